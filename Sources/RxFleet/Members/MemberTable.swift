#if Fleet
public import FoundationEssentials
import RxHTTP

/// A process of a fleet.
public struct FleetMember: Sendable, Hashable, Codable {
    /// Distinguishes the process from all others, also from earlier ones of the same name.
    public var id: String
    /// The name that the process gives itself, such as its host and process id.
    public var name: String
    /// When the process joined, by its own clock.
    public var joined: Date

    /// Creates a member.
    public init(id: String, name: String, joined: Date) {
        self.id = id
        self.name = name
        self.joined = joined
    }
}

/// One part of the table of members, as it is stored: each member is in one of several parts, so that a fleet of many
/// processes does not write the same entry. JSON by the names of the properties, also of ``Row`` and ``FleetMember``;
/// other releases read it.
struct MemberTable: Sendable, Codable, Equatable {
    /// A member and the number of its heartbeats.
    struct Row: Sendable, Codable, Equatable {
        var member: FleetMember
        var beats: UInt64
    }

    /// The most members of a part. A part with more is not read, so no release may write more.
    private static let maxRows = 4096

    /// A part of another version counts as empty, and the next heartbeat overwrites it.
    var version = 1
    /// A random number of the first who wrote this part; 0 for a part that nobody has written. Another number means that the
    /// store has lost the part in between.
    var epoch: UInt64 = 0
    var rows: [Row] = []

    init() {}

    /// Reads a part. What is not one is empty: members write it again with their next heartbeat.
    init(bytes: [UInt8]?) {
        guard let bytes, let read = try? JSONDecoder().decode(MemberTable.self, from: Data(bytes)),
            read.version == 1, read.rows.count <= Self.maxRows
        else { return }
        self = read
    }

    func bytes() throws(NetworkError) -> [UInt8] {
        do { return Array(try JSONEncoder().encode(self)) } catch {
            throw NetworkError(.corruptEntry, "the members cannot be encoded: \(error)")
        }
    }

    /// The part of a member, which only that member computes: the others read all parts.
    static func part(of id: String, of count: Int) -> Int {
        Int(id.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 } % UInt32(max(1, count)))
    }

    /// Counts a heartbeat of a member, which joins with the first one.
    mutating func beat(_ member: FleetMember) {
        if let index = rows.firstIndex(where: { $0.member.id == member.id }) {
            rows[index].beats &+= 1
        } else if rows.count < Self.maxRows {
            rows.append(Row(member: member, beats: 1))
        }
    }

    mutating func remove(_ ids: Set<String>) { rows.removeAll { ids.contains($0.member.id) } }
}

/// Which members are alive, as one process sees it: those whose heartbeats advance. The clocks of the others do not matter.
struct MemberWatch: Sendable {
    private struct Sight {
        var member: FleetMember
        /// `nil` for a member that the store has lost, and that has not announced itself again.
        var beats: UInt64?
        /// When the heartbeat was first seen, by this process's clock; or when the loss was.
        var time: Duration
    }

    /// The time without a heartbeat after which a member is taken to be gone.
    let lifetime: Duration
    private var sights: [String: Sight] = [:]
    private var epoch: UInt64?

    init(lifetime: Duration) { self.lifetime = lifetime }

    /// The members alive, and the ids of those that are gone.
    ///
    /// A member whose row has been removed has left. If the store has lost the rows, their members are taken to be alive for
    /// another lifetime, in which they announce themselves again.
    mutating func see(_ table: MemberTable, at now: Duration) -> (alive: [FleetMember], gone: Set<String>) {
        var alive: [FleetMember] = []
        var gone: Set<String> = []
        var seen: [String: Sight] = [:]
        if let epoch, epoch != table.epoch {
            for (id, sight) in sights {
                seen[id] = Sight(
                    member: sight.member, beats: nil, time: sight.beats == nil ? sight.time : now)
            }
        } else {
            seen = sights.filter { $0.value.beats == nil }
        }
        epoch = table.epoch
        for row in table.rows {
            let known = sights[row.member.id]
            seen[row.member.id] =
                known?.beats == row.beats ? known : Sight(member: row.member, beats: row.beats, time: now)
        }
        for (id, sight) in seen {
            if now - sight.time < lifetime { alive.append(sight.member) } else { gone.insert(id) }
        }
        sights = seen.filter { $0.value.beats != nil || !gone.contains($0.key) }
        return (alive.sorted { ($0.joined, $0.id) < ($1.joined, $1.id) }, gone)
    }
}
#endif
