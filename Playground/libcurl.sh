# `use_libcurl VERSION` makes later builds use another libcurl than the system's. It is unpacked from Debian's backports,
# or from a wheel of PyPI, into .build-libcurl-VERSION and never replaces the system's. Sets `root` to that folder, and
# `scratch` to the folder of its builds (for the system's libcurl, .build). Works on Debian 12. Source and call it in the
# root of the project.

# apt with a separate list of sources and separate state.
apt_backports() {
    local tool=$1
    shift
    "$tool" -q -o Dir::Etc::sourcelist="$root/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::Lists="$root/apt/lists" -o Dir::Cache="$root/apt/cache" "$@"
}

unpack() {
    local package found
    [ "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" = bookworm ] ||
        { echo "libcurl $version can be unpacked on Debian 12 (bookworm) only." >&2; exit 1; }
    rm -rf "$root"
    mkdir -p "$root/apt/lists/partial" "$root/apt/cache/archives/partial" "$root/prefix"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
        "http://deb.debian.org/debian bookworm-backports main" >"$root/apt/sources.list"
    apt_backports apt-get update >&2
    for package in "$@"; do
        # The last part of the version changes.
        found=$(apt_backports apt-cache madison "$package" | awk '{ print $3; exit }')
        (cd "$root/apt" && apt_backports apt-get download "$package=$found" >&2)
    done
    for package in "$root"/apt/*.deb; do dpkg -x "$package" "$root/prefix"; done
}

# The libcurl inside a wheel of PyPI, with the libraries that it needs, and the headers of the backport.
unpack_wheel() {
    unpack libcurl4-openssl-dev
    python3 -m venv "$root/venv"
    "$root/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --dest "$root/wheel" "$1" >&2
    "$root/venv/bin/python" -m zipfile -e "$root"/wheel/*.whl "$root/wheel"
    wheel=$(echo "$root"/wheel/*.libs)
}

# Copies of the .pc files, without the folders that SwiftPM would search before this one.
#
#   write_pkg_config TRIPLET FILE     the library
write_pkg_config() {
    local triplet=$1 file=$2 name include pc
    mkdir -p "$root/pkgconfig"
    for name in libuv libpsl zlib sqlite3 libbrotlidec libbrotlicommon libzstd; do
        pc=$(pkg-config --variable=pcfiledir "$name")/$name.pc
        sed -e '/^Libs/s/-L[^ ]*//g' -e '/^\(Libs\|Requires\).private/d' "$pc" >"$root/pkgconfig/$name.pc"
    done
    include=$root/prefix/usr/include
    [ ! -d "$include/$triplet/curl" ] || include=$include/$triplet
    # The module map links with -lcurl.
    mkdir -p "$root/lib"
    ln -sf "$file" "$root/lib/libcurl.so"
    # The name by which programs that were built with the system's look for it.
    ln -sf "$file" "$root/lib/libcurl.so.4"
    printf '%s\n' "Name: libcurl" "Description: libcurl $version" "Version: $number" \
        "Libs: -L$root/lib -lcurl" "Cflags: -I$include" >"$root/pkgconfig/libcurl.pc"
    ln -sfn "$(dirname "$file")" "$root/run"
}

use_libcurl() {
    local version=$1 system triplet lib wheel
    number=${version%-*}
    root=$PWD/.build-libcurl-$version
    scratch=.build
    system=$(pkg-config --modversion libcurl)
    [ "$version" != "$system" ] || return 0
    if [ ! -e "$root/pkgconfig/libcurl.pc" ]; then
        triplet=$(dpkg-architecture -q DEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch)
        lib=$root/prefix/usr/lib/$triplet
        case "$version" in
        8.14.1)
            unpack libcurl4 libcurl4-openssl-dev
            write_pkg_config "$triplet" "$lib/libcurl.so.4"
            ;;
        8.23.0)
            unpack_wheel pycurl==7.49.0
            write_pkg_config "$triplet" "$(echo "$wheel"/libcurl-*.so.*)"
            ;;
        8.14.1-gnutls)
            unpack libcurl3-gnutls libcurl4-gnutls-dev libnghttp3-9 libngtcp2-16 libngtcp2-crypto-gnutls8
            write_pkg_config "$triplet" "$lib/libcurl-gnutls.so.4"
            ;;
        *)
            echo "There is no package of libcurl $version. Use 8.14.1, 8.14.1-gnutls, 8.23.0 or the system's $system." >&2
            exit 1
            ;;
        esac
    fi
    scratch=$root/build
    export PKG_CONFIG_PATH=$root/pkgconfig LD_LIBRARY_PATH=$root/run
}

upgrade_libcurl() {
    (use_libcurl "$1")
    root=$PWD/.build-libcurl-$1
    [ ! -e "$root" ] || export LD_LIBRARY_PATH=$root/lib:$root/run
}
