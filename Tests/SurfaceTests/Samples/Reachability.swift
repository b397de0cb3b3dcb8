import RxNetworking
import RxTesting

func checkReachability() {
    var configuration = ClientConfiguration()
    let reachability = NetlinkReachability()
    reachability.start()
    configuration.reachability = reachability

    if reachability.status == .cellular { show("no pictures over the mobile network") }
    reachability.statuses.subscribe { status in show(status.isReachable) }
    reachability.stop()
    show(configuration)
}

func scriptReachability() {
    var configuration = ClientConfiguration()
    let scripted = ScriptedReachability(.wifi)
    configuration.reachability = scripted
    scripted.set(.unreachable)
    show(configuration)
}
