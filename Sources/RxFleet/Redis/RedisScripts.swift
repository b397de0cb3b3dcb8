#if Fleet
import Crypto

/// A script that Redis executes at once, and knows by its digest.
struct RedisScript: Sendable {
    let text: String
    let digest: String

    init(_ text: String) {
        self.text = text
        let alphabet = Array("0123456789abcdef".utf8)
        let digits = Insecure.SHA1.hash(data: Array(text.utf8)).flatMap { byte in
            [alphabet[Int(byte >> 4)], alphabet[Int(byte & 15)]]
        }
        digest = String(decoding: digits, as: UTF8.self)
    }

    /// The call of a script that Redis knows.
    func call(_ keys: [[UInt8]], _ arguments: [[UInt8]]) -> RedisCommand {
        RedisCommand("EVALSHA", digest, "\(keys.count)", bytes: keys + arguments)
    }

    /// The call of a script that Redis does not know yet.
    func introduction(_ keys: [[UInt8]], _ arguments: [[UInt8]]) -> RedisCommand {
        RedisCommand("EVAL", text, "\(keys.count)", bytes: keys + arguments)
    }
}

/// The scripts of the store. The time is that of Redis, in microseconds.
///
/// Versions and fences are numbers of one sequence: each is the time, or one more than the last if that is greater. So
/// they grow even if Redis has lost all data, as long as its clock does not go back by more than it was away. They are
/// less than 2^53, up to which Lua counts exactly, until the year 2255.
///
/// An entry is a string: the version as 16 digits, then the content. A lease is a hash: `fence` and `requests` for ever,
/// `token`, `end` and `time`, its length, while it is held. The requests that wait for it are a sorted set of tokens, each
/// of which begins with the name of its process. Processes of several releases run scripts of their own
/// on the same keys. The ACL in Redis.md allows the commands of the scripts and no others.
extension RedisScript {
    /// The beginning of scripts that make versions and fences. The time and the numbers are the same for the scripts of
    /// all releases.
    private static let number = """
        local time = redis.call('TIME')
        local now = time[1] * 1000000 + time[2]
        local function following(last, own)
          return math.max(now, (tonumber(last or '0') or 0) + 1, (tonumber(own or '0') or 0) + 1)
        end

        """

    /// Keys: entry, clock, and the lease if there is one. Arguments: `any`, `absent` or a version; 1 for an entry and 0 for
    /// none; the content; the lifetime in milliseconds, or nothing; the fence. Returns the version, 0, −1 for a conflict,
    /// −2 if the lease is not the last one. ``RedisStore/swap(_:to:expecting:under:for:)`` makes the arguments;
    /// `StoreTable.swap` and `MemoryStore.swap` have the same rules.
    static let swap = RedisScript(
        number + """
            if KEYS[3] then
              local fence = redis.call('HGET', KEYS[3], 'fence')
              if not fence or tonumber(fence) > tonumber(ARGV[5]) then return -2 end
            end
            local found = redis.call('GETRANGE', KEYS[1], 0, 15)
            if ARGV[1] == 'absent' then
              if found ~= '' then return -1 end
            elseif ARGV[1] ~= 'any' and ARGV[1] ~= found then
              return -1
            end
            if ARGV[2] == '0' then
              redis.call('DEL', KEYS[1])
              return 0
            end
            local version = following(redis.call('GET', KEYS[2]), found)
            local digits = string.format('%016.0f', version)
            redis.call('SET', KEYS[2], digits)
            if ARGV[4] == '' then
              redis.call('SET', KEYS[1], digits .. ARGV[3])
            elseif tonumber(ARGV[4]) > 0 then
              redis.call('SET', KEYS[1], digits .. ARGV[3], 'PX', ARGV[4])
            else
              redis.call('DEL', KEYS[1])
            end
            return version
            """)

    /// Grants a free lease to the first process that waits and is there: to it the message is sent, which nobody
    /// receives if it has gone. Until that process has taken the lease over, it has it for two seconds. Returns the
    /// end, or nothing if nobody is left before the token `own`. ``RedisLeases`` makes the tokens and reads the
    /// message: token, space, name.
    private static let succession =
        number + """
            local function grant(token, time, old)
              local fence = string.format('%016.0f', following(redis.call('GET', KEYS[2]), old))
              redis.call('SET', KEYS[2], fence)
              redis.call('HSET', KEYS[1], 'token', token, 'fence', fence, 'end', string.format('%.0f', now + time),
                'time', string.format('%.0f', time))
              return fence
            end
            local function passOn(own, channel, name, old)
              while true do
                local token = redis.call('ZPOPMIN', KEYS[3])[1]
                if not token or token == own then return nil end
                local process = string.match(token, '^[^:]*')
                if redis.call('PUBLISH', channel .. process, token .. ' ' .. name) > 0 then
                  grant(token, 2000000, old)
                  return now + 2000000
                end
              end
            end

            """

    /// Keys: lease, clock, queue. Arguments: the token of the request, the milliseconds, the beginning of the channels
    /// of processes, the name. Returns 1 and the fence; or 0 and the microseconds until the end of the lease that
    /// another has, and the request waits in the queue, which lasts two days (Redis.md). A lease that ends later than
    /// its length allows was granted before the clock was set back: it ends after its length. Processes of other
    /// releases neither write nor read a field that is new here, and a command that is new needs the ACL of Redis.md.
    static let acquire = RedisScript(
        succession + """
            local lease = redis.call('HMGET', KEYS[1], 'token', 'end', 'fence', 'time')
            local finish = tonumber(lease[2] or '0') or 0
            local time = ARGV[2] * 1000
            if lease[1] == ARGV[1] and finish > now then
              redis.call('HSET', KEYS[1], 'end', string.format('%.0f', now + time), 'time', string.format('%.0f', time))
              return {1, lease[3]}
            end
            local longest = now + (tonumber(lease[4] or '') or finish)
            if lease[1] and finish > longest then
              finish = longest
              redis.call('HSET', KEYS[1], 'end', string.format('%.0f', finish))
            end
            if not lease[1] or finish <= now then
              finish = passOn(ARGV[1], ARGV[3], ARGV[4], lease[3])
              if not finish then return {1, grant(ARGV[1], time, lease[3])} end
            end
            if not redis.call('ZSCORE', KEYS[3], ARGV[1]) then
              redis.call('ZADD', KEYS[3], redis.call('HINCRBY', KEYS[1], 'requests', 1), ARGV[1])
            end
            redis.call('PEXPIRE', KEYS[3], 172800000)
            return {0, string.format('%.0f', finish - now)}
            """)

    /// Keys: lease. Arguments: the token, the milliseconds. Returns 1, or 0 if the lease has ended.
    static let extend = RedisScript(
        number + """
            local lease = redis.call('HMGET', KEYS[1], 'token', 'end')
            if lease[1] ~= ARGV[1] or (tonumber(lease[2] or '0') or 0) <= now then return 0 end
            local time = ARGV[2] * 1000
            redis.call('HSET', KEYS[1], 'end', string.format('%.0f', now + time), 'time', string.format('%.0f', time))
            return 1
            """)

    /// Returns a lease to the next process, or leaves the queue. Keys: lease, clock, queue. Arguments: the token, the
    /// beginning of the channels of processes, the name.
    static let release = RedisScript(
        succession + """
            local lease = redis.call('HMGET', KEYS[1], 'token', 'fence')
            if lease[1] == ARGV[1] then
              redis.call('HDEL', KEYS[1], 'token', 'end')
              passOn('', ARGV[2], ARGV[3], lease[2])
            else
              redis.call('ZREM', KEYS[3], ARGV[1])
            end
            return 1
            """)

    /// The generic cell rate algorithm (ITU-T I.371). Keys: the budget. Arguments: its capacity, and what is taken, in
    /// microseconds. Returns whether it is refused, and the microseconds used before it and with it.
    ///
    /// The time is counted from 2020, in all releases, so that a double has digits for fractions of a microsecond. The
    /// rule is that of ``CellRate``; ``RedisBudget`` reads the reply.
    static let take = RedisScript(
        """
        local time = redis.call('TIME')
        local now = (time[1] - 1577836800) * 1000000 + time[2]
        local capacity = tonumber(ARGV[1])
        local full = tonumber(redis.call('GET', KEYS[1]) or '0') or 0
        local used = math.min(math.max(full - now, 0), capacity)
        local with = used + tonumber(ARGV[2])
        local isLimited = with > capacity + 0.1
        if not isLimited and with > used then
          redis.call('SET', KEYS[1], string.format('%.17g', now + with),
            'PX', string.format('%.0f', math.min(math.ceil(with / 1000) + 1, 1e11)))
        end
        return {isLimited and 1 or 0, string.format('%.3f', used), string.format('%.3f', with)}
        """)
}
#endif
