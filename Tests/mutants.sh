#!/usr/bin/env bash
# Plants bugs in a copy of the package, one after the other, and checks that the tests notice each.
#
#   Tests/mutants.sh [--list] [name…]
#
# The bugs are in Tests/Mutants/mutants.txt. Names select some of them; `session-` selects all whose names begin with it.
# The copy is in .build-mutants, with a build of the test targets that the selected bugs need. Exits with 1 if a bug is
# noticed by no test, if it no longer applies or compiles, or if the tests fail without it.
set -euo pipefail
cd "$(dirname "$0")/.."
source Playground/install.sh
root=$PWD table=$PWD/Tests/Mutants/mutants.txt scratch=$PWD/.build-mutants/package

names=() files=() afters=() olds=() news=() kinds=() checks=()
while IFS= read -r line; do
    case "$line" in
    name:\ *) names+=("${line#name: }") afters+=("") ;;
    file:\ *) files+=("${line#file: }") ;;
    after:\ *) afters[${#afters[@]} - 1]=${line#after: } ;;
    -\ *) olds+=("${line#- }") ;;
    +*) line=${line#+} news+=("${line# }") ;;
    test:\ *) kinds+=(test) checks+=("${line#test: }") ;;
    explore:\ *) kinds+=(explore) checks+=("${line#explore: }") ;;
    esac
done <"$table"

if [ "${1:-}" = --list ]; then
    printf '%s\n' "${names[@]}"
    exit
fi
selected=()
for index in "${!names[@]}"; do
    [ $# -gt 0 ] || selected+=("$index")
    for name in "$@"; do
        [[ "${names[index]}" != "$name"* ]] || { selected+=("$index") && break; }
    done
done
if [ ${#selected[@]} = 0 ]; then
    echo "no such bug: $*" >&2
    exit 2
fi

# The copy. Unchanged files keep their dates, so that only the changed ones are compiled again.
mkdir -p "$scratch"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [ -f "$file" ] || continue
    cmp -s "$file" "$scratch/$file" || { mkdir -p "$scratch/$(dirname "$file")" && cp "$file" "$scratch/$file"; }
done
# Files that have been removed or renamed since the last run.
(cd "$scratch" && find Sources Tests Playground -type f -print0) | while IFS= read -r -d '' file; do
    [ -f "$file" ] || rm "$scratch/$file"
done

# Only the targets that the bugs need are built.
targets=$(for index in "${selected[@]}"; do
    if [ "${kinds[index]}" = test ]; then echo "${checks[index]%%\\.*}"; else echo explore; fi
done | sort -u | tr '\n' ',')
export MUTANT_TARGETS=$targets ALL_TRAITS=1
[ ! -f Package.resolved ] || cp Package.resolved "$scratch"
cat >>"$scratch/Package.swift" <<'SWIFT'

if let names = Context.environment["MUTANT_TARGETS"] {
    var reached: Set<String> = [], left = names.split(separator: ",").map(String.init)
    while let name = left.popLast() {
        guard let target = package.targets.first(where: { $0.name == name }), reached.insert(name).inserted else { continue }
        for case .byNameItem(let name, _) in target.dependencies { left.append(name) }
        for case .targetItem(let name, _) in target.dependencies { left.append(name) }
    }
    package.targets.removeAll { !reached.contains($0.name) }
    package.products.removeAll { !reached.contains($0.name) }
}
SWIFT

cd "$scratch"
log=$scratch/../log
build() { swift build --build-tests >"$log" 2>&1; }
# Whether the tests of a bug pass.
check() {
    if [ "${kinds[$1]}" = test ]; then
        timeout 900 swift test --skip-build --filter "^${checks[$1]}" >"$log" 2>&1
    else
        timeout 900 .build/debug/explore 150 "${checks[$1]}" >"$log" 2>&1
    fi
}
# Replaces the line of a bug in its file; fails unless there is exactly one such line.
plant() {
    AFTER=${afters[$1]} OLD=${olds[$1]} NEW=${news[$1]} awk '
        { line = $0; sub(/^ +/, "", line); indent = substr($0, 1, length($0) - length(line)) }
        ENVIRON["AFTER"] == line { isBelow = 1 }
        line == ENVIRON["OLD"] && (ENVIRON["AFTER"] == "" || isBelow && count == 0) {
            count++
            if (ENVIRON["NEW"] != "") print indent ENVIRON["NEW"]
            next
        }
        { print }
        END { exit count == 1 ? 0 : 1 }' "$root/${files[$1]}" >"${files[$1]}"
}

failed=0
build || { tail -40 "$log" >&2 && exit 1; }
for index in "${selected[@]}"; do
    start=$SECONDS
    code=0
    if ! plant "$index"; then
        result="does not apply"
    elif ! build; then
        result="does not compile"
    else
        check "$index" || code=$?
        if [ "$code" = 0 ]; then
            result=SURVIVES
        # A time limit (124), a failed expectation, a violated invariant, or a crash.
        elif [ "$code" = 124 ] || grep -qE '✘|fails with the seed|signal code' "$log"; then
            result=noticed
        else
            result="is not checked: $(tail -1 "$log")"
        fi
    fi
    cp "$root/${files[index]}" "${files[index]}"
    [ "$result" = noticed ] || failed=1
    printf '%-55s %s, %s s\n' "${names[index]}" "$result" $((SECONDS - start))
done
# Without a bug the same tests pass; otherwise they would notice anything.
build
for index in "${selected[@]}"; do
    [[ " ${passed:-} " != *" ${checks[index]} "* ]] || continue
    passed="${passed:-} ${checks[index]}"
    if ! check "$index" || grep -q 'with 0 tests' "$log"; then
        echo "fails without a bug, or has no tests: ${checks[index]}"
        failed=1
    fi
done
exit $failed
