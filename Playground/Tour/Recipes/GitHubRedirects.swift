import Foundation
import RxNetworking

extension Recipe {
    static let gitHubRedirects = Recipe(
        "Redirects", "301 and 302 to a GET are followed as GET, 307 repeats the PATCH with its body."
    ) { stage in
        let scenario: Headers = ["X-Scenario": "rename-repository"]
        let client = Client(baseURL: stage.baseURL)
        // Code
        let repository = "/repos/octokit-fixture-org/rename-repository"
        let rename = client.patch(repository, .json(["name": "rename-repository-newname"]), headers: scenario)
        let moved = client.get(repository, headers: scenario)
        let change = client.patch(repository, .json(["description": "test description"]), headers: scenario)
        let archive = client.get(
            "/repos/octokit-fixture-org/get-archive/tarball/main", headers: ["X-Scenario": "get-archive"])
        // Shown
        _ = try await rename.value()
        for (status, stream) in [(301, moved), (307, change), (302, archive)] {
            let (values, error) = await stage.play(stream) { response in
                "\(status) -> \(response.request.method) \(response.url.path) \(response.status)"
            }
            let response = values.first
            stage.expect(error == nil && response?.status.code == 200, "\(status) leads to a response")
            stage.expect(
                response?.request.method == (status == 307 ? .patch : .get), "\(status) keeps the method")
        }
        stage.result("followed 301, 307 and 302")
    }
}
