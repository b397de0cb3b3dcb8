import RxHTTP
import Synchronization

extension Session {
    /// The state of the login, for the inspector of streams.
    package struct InspectedState: Sendable, Equatable {
        /// In words.
        package var text: String
        /// The number of credentials since the account was logged in, from 0.
        package var generation: Int
    }

    /// The current state of the login.
    package var inspectedState: InspectedState {
        contents.withLock { contents in
            let text =
                switch contents.state.phase {
                case .idle: contents.state.credential == nil ? "no credential" : "logged in"
                case .renewing: "logging in"
                case .loggedOut: "logged out"
                }
            return InspectedState(text: text, generation: contents.state.stamp.generation)
        }
    }
}
