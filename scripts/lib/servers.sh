# Builds the servers of the test cluster, kubectl and helm once, from the modules that tests/e2e pins, into a folder of
# the cache. The versions decide the name of the folder. Needs $root, the checkout.

server_names=(etcd kube-apiserver kube-controller-manager kube-scheduler kwok karpenter)
kubernetes_version=$(sed -n 's/^\tk8s.io\/kubernetes \(v[0-9.]*\).*/\1/p' "$root/tests/e2e/go.mod")

# The programs: name, folder of the go.mod below tests/e2e, package. Each folder pins one release of the Kubernetes
# libraries, because Kubernetes, KWOK and Karpenter need different releases. Helm works with Karpenter's release.
programs=(
  "etcd . go.etcd.io/etcd/server/v3"
  "kube-apiserver . k8s.io/kubernetes/cmd/kube-apiserver"
  "kube-controller-manager . k8s.io/kubernetes/cmd/kube-controller-manager"
  "kube-scheduler . k8s.io/kubernetes/cmd/kube-scheduler"
  "kubectl . k8s.io/kubernetes/cmd/kubectl"
  "kwok kwok sigs.k8s.io/kwok/cmd/kwok"
  "karpenter karpenter sigs.k8s.io/karpenter/kwok"
  "helm karpenter helm.sh/helm/v3/cmd/helm"
)

# Without these flags the version of Kubernetes is v0.0.0, which clients reject.
link_flags() {
  local version=k8s.io/component-base/version numbers
  IFS=. read -ra numbers <<<"${kubernetes_version#v}"
  echo "-s -w -X $version.gitVersion=$kubernetes_version -X $version.gitMajor=${numbers[0]}" \
    "-X $version.gitMinor=${numbers[1]} -X k8s.io/client-go/pkg/version.gitVersion=$kubernetes_version"
}

servers_key() {
  { cat "$root"/tests/e2e/{,kwok/,karpenter/}go.{mod,sum}; link_flags; uname -m; } | sha256sum | cut -c 1-12
}

servers=${CAPSTAN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/capstan}/servers-$(servers_key)

# Prints the reason why the servers cannot be built. Prints nothing if they can be built, or are built already.
missing_go() {
  [[ ! -e $servers/complete ]] || return 0
  local wanted have
  wanted=$(sed -n 's/^go //p' "$root"/tests/e2e/{,kwok/,karpenter/}go.mod | sort -V | tail -n 1)
  have=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null) || have=
  if [[ -z $have ]]; then
    echo "the test cluster is built from source with Go $wanted or newer, and Go is not installed"
  elif [[ $(printf '%s\n' "$wanted" "${have#go}" | sort -V | head -n 1) != "$wanted" ]]; then
    echo "the test cluster is built from source with Go $wanted or newer, and the installed version is ${have#go}"
  fi
}

build_servers() {
  [[ ! -e $servers/complete ]] || return 0
  local reason
  reason=$(missing_go)
  [[ -z $reason ]] || { echo "cluster: $reason; see docs/guides/laptop-cluster.md" >&2; exit 3; }
  mkdir -p "$servers"
  exec {build_lock}>"$servers/lock"
  flock --exclusive "$build_lock"
  [[ -e $servers/complete ]] || build_all || { echo "cluster: could not build the servers" >&2; exit 1; }
  exec {build_lock}>&-
}

build_all() {
  local program name folder package count=0 flags begun=$SECONDS
  local -x GOTOOLCHAIN=local GOFLAGS='-mod=readonly -buildvcs=false' GOWORK=off
  flags=$(link_flags)
  echo "cluster: building ${#programs[@]} programs into $servers; the first time takes minutes" >&2
  for program in "${programs[@]}"; do
    read -r name folder package <<<"$program"
    printf 'cluster: [%4d s] building %s (%d of %d)\n' $((SECONDS - begun)) "$name" $((++count)) ${#programs[@]} >&2
    [[ -x $servers/$name ]] ||
      nice go -C "$root/tests/e2e/$folder" build -ldflags "$flags" -o "$servers/$name" "$package" || return 1
  done
  copy_crds || return 1
  touch "$servers/complete"
  printf 'cluster: [%4d s] built\n' $((SECONDS - begun)) >&2
}

# The Go modules of Karpenter and KWOK contain their CRDs. With copies in the cache, a cluster starts without Go.
copy_crds() {
  local karpenter kwok
  karpenter=$(go -C "$root/tests/e2e/karpenter" list -m -f '{{.Dir}}' sigs.k8s.io/karpenter) || return 1
  kwok=$(go -C "$root/tests/e2e/kwok" list -m -f '{{.Dir}}' sigs.k8s.io/kwok) || return 1
  mkdir -p "$servers/crds"
  install -m 644 "$karpenter"/pkg/apis/crds/*.yaml "$karpenter"/kwok/apis/crds/*.yaml \
    "$kwok/kustomize/crd/bases/kwok.x-k8s.io_stages.yaml" "$servers/crds"
}
