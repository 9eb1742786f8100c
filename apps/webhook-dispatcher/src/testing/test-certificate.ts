/** A certificate for localhost and 127.0.0.1 that signs itself, and its key: nobody trusts it, so neither is a secret. */
export const SELF_SIGNED = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYbXc2wb9OnGKl1e3
EXk6yXpBDZgHAltkQVgiG5xwftKhRANCAAS1zQyqnsvlkeuEg5QP9LFu4pde8xaI
Oxs7LT//ghJwSSseds2/LRZ5mQBMO9/MbtbThliei2kzoZlNqkpthNVg
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUWBPO7tjCUqYibW/1gOAIyxBeD5EwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyODAzMjEzMVoYDzIxMjYxMTA0
MDMyMTMxWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAS1zQyqnsvlkeuEg5QP9LFu4pde8xaIOxs7LT//ghJwSSseds2/LRZ5
mQBMO9/MbtbThliei2kzoZlNqkpthNVgo28wbTAdBgNVHQ4EFgQUXznPjsmpFkVU
i2vLhXsvuA0ou7AwHwYDVR0jBBgwFoAUXznPjsmpFkVUi2vLhXsvuA0ou7AwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgKoO+GthJZ9qY0KIJFXBebTJ9BcCinMJCAUzIa+k6SFkCIQC0
CTiqgpyT+vx0eNpvNSirmS5KvYdlm26raWicbMOjKQ==
-----END CERTIFICATE-----`,
};
