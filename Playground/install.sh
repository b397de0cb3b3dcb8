# Installs missing build dependencies. Source it in a script and name the dependencies:
#
#   source Playground/install.sh
#   need_libraries
#   need_command nginx nginx-light nginx    # the command, its apt package, its brew package
#   install_missing

# Without it SwiftPM passes the traits to the compiler in another order each time, and so compiles everything anew
# (https://github.com/swiftlang/swift-package-manager/issues/10525).
export SWIFT_DETERMINISTIC_HASHING=1

# Homebrew does not link its curl, because the system has one.
if command -v brew >/dev/null; then
    export PKG_CONFIG_PATH="$(brew --prefix)/opt/curl/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
fi

missing_apt=() missing_brew=()

need_command() {
    PATH="$PATH:/usr/sbin" command -v "$1" >/dev/null && return
    missing_apt+=("$2") missing_brew+=("$3")
}

need_library() {
    pkg-config --exists "$1" 2>/dev/null && return
    missing_apt+=("$2") missing_brew+=("$3")
}

# A file that a pattern matches.
need_file() {
    compgen -G "$1" >/dev/null && return
    missing_apt+=("$2") missing_brew+=("$3")
}

# The dependencies of the framework.
need_libraries() {
    need_command pkg-config pkg-config pkg-config
    need_library libuv libuv1-dev libuv
    need_library libcurl libcurl4-openssl-dev curl
    need_library zlib zlib1g-dev zlib
    need_library libpsl libpsl-dev libpsl
}

# The dependencies of the package traits Brotli, Zstd, DiskCache and Outbox.
need_trait_libraries() {
    need_library libbrotlidec libbrotli-dev brotli
    need_library libzstd libzstd-dev zstd
    need_library sqlite3 libsqlite3-dev sqlite
}

# The servers of Tests/services.sh, and what installs the Python ones.
need_services() {
    need_command caddy caddy caddy
    need_command nginx nginx-light nginx
    need_command redis-server redis-server redis
    # Homebrew does not have it; the tests of it are skipped there.
    ! command -v apt-get >/dev/null || need_command glewlwyd glewlwyd glewlwyd
    need_python
}

# The dependencies of virtual_environment.
need_python() {
    need_command python3 python3 python
    # Debian packages it separately.
    python3 -c 'import ensurepip' 2>/dev/null || missing_apt+=(python3-venv)
}

# Creates a virtual environment with the packages of a requirements file, unless they are installed already.
#
#   virtual_environment FOLDER REQUIREMENTS
virtual_environment() {
    ! cmp -s "$2" "$1/installed.txt" || return 0
    echo "Installing the packages of $2 into $1" >&2
    rm -rf "$1"
    python3 -m venv "$1"
    "$1/bin/pip" install --quiet --disable-pip-version-check -r "$2"
    cp "$2" "$1/installed.txt"
}

install_missing() {
    if ! command -v swift >/dev/null; then
        echo "Swift is not installed. Install it from https://www.swift.org/install and try again." >&2
        return 1
    fi
    [ ${#missing_apt[@]} -gt 0 ] || return 0
    local log
    log=$(mktemp)
    if command -v apt-get >/dev/null; then
        local sudo=()
        [ "$(id -u)" -eq 0 ] || sudo=(sudo)
        echo "Installing with ${sudo[*]:+sudo }apt-get: ${missing_apt[*]}" >&2
        if ! { ${sudo[@]+"${sudo[@]}"} apt-get update -q &&
            ${sudo[@]+"${sudo[@]}"} env DEBIAN_FRONTEND=noninteractive \
                apt-get install -q -y --no-install-recommends "${missing_apt[@]}"; } >"$log" 2>&1; then
            cat "$log" >&2
            return 1
        fi
    elif command -v brew >/dev/null; then
        echo "Installing with brew: ${missing_brew[*]}" >&2
        brew install -q "${missing_brew[@]}" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
    else
        echo "Neither apt-get nor brew was found. Install these packages (Debian names): ${missing_apt[*]}" >&2
        return 1
    fi
    rm -f "$log"
    missing_apt=() missing_brew=()
}
