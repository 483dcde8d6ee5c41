# Certificates and kubeconfigs of one cluster, with its own CA, valid for a month.

# Creates a key and a certificate for one use: DIR/pki/NAME.{key,crt}.
make_certificate() { # dir, name, subject, extensions
  local base=$1/pki/$2
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$base.key" -subj "$3" 2>/dev/null |
    openssl x509 -req -CA "$1/pki/ca.crt" -CAkey "$1/pki/ca.key" -CAcreateserial -days 30 -out "$base.crt" \
      -extfile <(echo "$4") 2>/dev/null
}

make_user() { # dir, URL of the API server, path of the kubeconfig, user, group
  local name
  name=$(basename "$3")
  make_certificate "$1" "user-$name" "${5:+/O=$5}/CN=$4" 'extendedKeyUsage=clientAuth'
  cat >"$3" <<END
apiVersion: v1
kind: Config
clusters:
- name: capstan-laptop
  cluster:
    server: $2
    certificate-authority-data: $(base64 -w 0 "$1/pki/ca.crt")
users:
- name: $4
  user:
    client-certificate-data: $(base64 -w 0 "$1/pki/user-$name.crt")
    client-key-data: $(base64 -w 0 "$1/pki/user-$name.key")
contexts:
- name: capstan-laptop
  context: {cluster: capstan-laptop, user: $4}
current-context: capstan-laptop
END
}

# Each server has its own user, so that the audit log shows which server sent a request.
make_pki() { # dir, URL of the API server
  umask 077
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=capstan-laptop -days 30 \
    -keyout "$1/pki/ca.key" -out "$1/pki/ca.crt" 2>/dev/null
  openssl ecparam -name prime256v1 -genkey -noout -out "$1/pki/service-accounts.key"
  make_certificate "$1" server /CN=kube-apiserver \
    'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc'
  make_certificate "$1" etcd-client /CN=kube-apiserver 'extendedKeyUsage=clientAuth'
  make_user "$1" "$2" "$1/kubeconfig" admin system:masters
  make_user "$1" "$2" "$1/users/kube-controller-manager" system:kube-controller-manager
  make_user "$1" "$2" "$1/users/kube-scheduler" system:kube-scheduler
  make_user "$1" "$2" "$1/users/kwok" kwok system:masters
  make_user "$1" "$2" "$1/users/karpenter" karpenter system:masters
}
