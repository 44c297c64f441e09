/** Command lines for notice channels and login clients, like `EXAMPLES`. */
export const OWNER_EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  "notice-channel": ["notice-channel list --fid 3 --key-file fid-3.key --url https://node.example"],
  "notice-channel create": [
    "notice-channel create --fid 3 --key-file fid-3.key --label phone --hook-url https://ntfy.sh/my-topic --preset ntfy",
  ],
  "notice-channel list": ["notice-channel list --fid 3 --key-file fid-3.key"],
  "notice-channel update": [
    "notice-channel update 4fQ7xk2Zb9Ln phone --checks webhook_failing,send_held --quiet-hours 22:00-07:00 --zone Europe/Berlin --fid 3 --key-file fid-3.key",
  ],
  "notice-channel delete": ["notice-channel delete 4fQ7xk2Zb9Ln --fid 3 --key-file fid-3.key"],
  "notice-channel test": ["notice-channel test 4fQ7xk2Zb9Ln --fid 3 --key-file fid-3.key"],
  "notice-channel incidents": ["notice-channel incidents --fid 3 --key-file fid-3.key"],
  "notice-channel acknowledge": ["notice-channel acknowledge 4fQ7xk2Zb9Ln --fid 3 --key-file fid-3.key"],
  "login-client": ["login-client list --fid 3 --key-file fid-3.key --url https://node.example"],
  "login-client create": [
    "login-client create --fid 3 --key-file fid-3.key --name Button --origins https://app.example --permissions read",
  ],
  "login-client get": ["login-client get 3f2a6d0e-57c1-4b8e-9d34-6a1f0b7c2e58 --fid 3 --key-file fid-3.key"],
  "login-client list": ["login-client list --fid 3 --key-file fid-3.key"],
  "login-client update": [
    "login-client update 3f2a6d0e-57c1-4b8e-9d34-6a1f0b7c2e58 --permissions write --fid 3 --key-file fid-3.key",
  ],
  "login-client delete": [
    "login-client delete 3f2a6d0e-57c1-4b8e-9d34-6a1f0b7c2e58 --fid 3 --key-file fid-3.key",
  ],
};
