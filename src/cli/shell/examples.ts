import type { Command } from "commander";
import { commandName } from "./command-name.ts";
import { OWNER_EXAMPLES } from "./owner-examples.ts";

/** Working command lines, except for the ids, by command path; "" is the program itself. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  "": [
    "serve --demo",
    "--config /etc/svc/svc.toml serve",
    "config check",
    "webhook create --fid 3 --key-file fid-3.key --name Talk --target-url https://example.com/hook --on cast.created",
  ],
  serve: [
    "serve --demo",
    "serve --data-dir /var/lib/svc --host 0.0.0.0",
    "serve --set upstream.url=http://host:3383",
  ],
  init: [
    "init",
    "init --demo",
    "init --followers-of 3 --upstream http://snapchain.example:3383 --data-dir /var/lib/svc",
    "init --channel bread --upstream http://snapchain.example:3383 --output /etc/svc/svc.toml --force",
  ],
  "app check-manifest": [
    "app check-manifest app.example",
    "app check-manifest farcaster.json --domain app.example --json",
  ],
  "app associate": ["app associate --domain app.example --fid 3 --key-file fid-3.key"],
  "quick-auth": ["quick-auth rotate"],
  "quick-auth rotate": ["quick-auth rotate", "quick-auth rotate --now"],
  doctor: [
    "doctor",
    "doctor --config /etc/svc/svc.toml --json",
    "doctor --sdk src",
    "doctor --sdk src --fix --url https://node.example",
  ],
  scores: ["scores status", "scores explain 3"],
  "scores run": ["scores run --data-dir /var/lib/svc", "scores run --set scores.max_memory_mb=2048"],
  "scores import": [
    "scores import spam.jsonl --format labels",
    "scores import scores.csv --format csv --dry-run",
    "scores import spam.jsonl --format labels --label 1=0.3",
  ],
  "scores export": ["scores export > scores.csv", "scores export --imported"],
  "scores status": ["scores status"],
  "scores explain": ["scores explain 3 --data-dir /var/lib/svc"],
  "scores simulate": ["scores simulate --seeds fids.txt"],
  import: ["import records.bin --data-dir /var/lib/svc", "import --estimate records.bin"],
  export: ["export records.bin --data-dir /var/lib/svc", "export records.bin --fids 3,194"],
  migrate: ["migrate --data-dir /var/lib/svc", "migrate --verify"],
  verify: ["verify --sample 100", "verify --fid 3 --fid 194 --json"],
  upstream: ["upstream estimate --set upstream.url=http://host:3383"],
  "upstream estimate": ["upstream estimate --set upstream.url=http://host:3383", "upstream estimate --json"],
  index: ["index compact"],
  "index compact": [
    "index compact --config /etc/svc/svc.toml",
    "index compact --set upstream.fid_file=/etc/svc/fids.txt",
  ],
  snapshot: [
    "snapshot create --to /backup/index-of-today",
    "snapshot verify --from /backup/index-of-today",
    "snapshot restore --from /backup/index-of-today --data-dir /var/lib/svc",
  ],
  "snapshot create": [
    "snapshot create --to s3://backups/index-of-today --data-dir /var/lib/svc",
    "snapshot create --to /backup/node-of-today --with-state",
  ],
  "snapshot list": ["snapshot list --from s3://backups", "snapshot list --from https://files.example"],
  "snapshot verify": ["snapshot verify --from /backup/index-of-today"],
  "snapshot restore": ["snapshot restore --from /backup/index-of-today --data-dir /var/lib/svc"],
  backup: ["backup --to /backup --data-dir /var/lib/svc", "backup --to s3://backups/node-1 --state-only"],
  restore: ["restore --from /backup/20261122T031500Z --data-dir /var/lib/svc"],
  "place-task": ["place-task /var/lib/svc"],
  "database-task": [`database-task {"name":"check","database":"index","file":"index.db"}`],
  signer: [
    "signer keygen > signers.key",
    "signer list --fid 3 --key-file fid-3.key",
    "signer approve http://127.0.0.1:8080/approve/<token> --fid 3 --key-file fid-3.key",
  ],
  "signer keygen": ["signer keygen > signers.key"],
  "signer create": [
    "signer create --fid 3 --key-file fid-3.key",
    "signer create --user 7 --permissions PUBLISH_CAST,FOLLOW_USER --fid 3 --key-file fid-3.key",
  ],
  "signer cast": ["signer cast 2f7ad6a5-0f5a-4d5e-9d3e-0d3a6f0c1b11 --text gm --fid 3 --key-file fid-3.key"],
  "signer list": ["signer list --fid 3 --key-file fid-3.key", "signer list --fid 3 --user 7 --json"],
  "signer get": ["signer get 2f7ad6a5-0f5a-4d5e-9d3e-0d3a6f0c1b11 --fid 3 --key-file fid-3.key"],
  "signer import": ["signer import --fid 3 --user 7 --seed-file user-7.seed --key-file fid-3.key"],
  "signer export": ["signer export 2f7ad6a5-0f5a-4d5e-9d3e-0d3a6f0c1b11 --fid 3 --key-file fid-3.key"],
  "signer delete": [
    "signer delete 2f7ad6a5-0f5a-4d5e-9d3e-0d3a6f0c1b11 --fid 3 --key-file fid-3.key",
    "signer delete --all --fid 3 --key-file fid-3.key",
  ],
  "signer approve": ["signer approve http://127.0.0.1:8080/approve/<token> --fid 3 --key-file fid-3.key"],
  "signer rekey": ["signer rekey --data-dir /var/lib/svc"],
  channels: ["channels import all-channels.json"],
  "channels import": ["channels import all-channels.json"],
  config: ["config check", "config print", "config defaults > svc.toml"],
  "config print": ["config print", "config print --json"],
  "config check": ["config check", "config check --config svc.toml"],
  "config defaults": ["config defaults > svc.toml"],
  console: ["console", "console https://node.example"],
  app: [
    "app create --fid 3 --key-file fid-3.key --name Bread --app-url https://example.com",
    "app list --fid 3 --key-file fid-3.key --url https://node.example",
  ],
  "app create": ["app create --fid 3 --key-file fid-3.key --name Bread --app-url https://example.com"],
  "app list": ["app list --fid 3 --key-file fid-3.key", "app list --fid 3 --reveal --json"],
  "app get": ["app get APP_ID --fid 3 --key-file fid-3.key"],
  "app update": ["app update APP_ID --fid 3 --key-file fid-3.key --name Rye --no-description"],
  "app delete": ["app delete APP_ID --fid 3 --key-file fid-3.key"],
  "app rotate": ["app rotate APP_ID --fid 3 --key-file fid-3.key"],
  "app audience": ["app audience APP_ID --fid 3 --key-file fid-3.key --days 90"],
  "app retention": ["app retention APP_ID --fid 3 --key-file fid-3.key"],
  "app estimate": ["app estimate APP_ID --fid 3 --key-file fid-3.key --following-fid 7"],
  "app send": [
    "app send APP_ID --fid 3 --key-file fid-3.key --title Bread --body Ready --target-url https://example.com/today",
    "app send APP_ID --fid 3 --key-file fid-3.key --title Bread --body Ready --target-url https://example.com/today --local-time 2026-12-01T07:00 --time-zone Europe/Berlin",
  ],
  "app schedules": ["app schedules APP_ID --fid 3 --key-file fid-3.key"],
  "app unschedule": ["app unschedule SCHEDULE_ID --fid 3 --key-file fid-3.key"],
  "app results": ["app results --schedule-id SCHEDULE_ID --fid 3 --key-file fid-3.key"],
  "app drafts": ["app drafts APP_ID --fid 3 --key-file fid-3.key"],
  "app delete-draft": ["app delete-draft DRAFT_ID --fid 3 --key-file fid-3.key"],
  "app segments": ["app segments APP_ID --fid 3 --key-file fid-3.key"],
  "app save-segment": [
    "app save-segment APP_ID --fid 3 --key-file fid-3.key --name Quiet --not-opened-within-days 14",
  ],
  "app delete-segment": ["app delete-segment SEGMENT_ID --fid 3 --key-file fid-3.key"],
  "app campaigns": ["app campaigns APP_ID --fid 3 --key-file fid-3.key --limit 100"],
  "app campaign": ["app campaign CAMPAIGN_ID --fid 3 --key-file fid-3.key"],
  audit: ["audit --fid 3 --key-file fid-3.key --limit 100"],
  ...OWNER_EXAMPLES,
  channel: ["channel follow night-trains --fid 3 --key-file fid-3.key --url https://node.example"],
  "channel follow": [
    "channel follow night-trains --fid 3 --key-file fid-3.key",
    "channel follow night-trains --no-following --fid 3 --key-file fid-3.key",
  ],
  address: [
    "address verify 0xADDRESS --block-hash 0xHASH --eth-signature 0xSIGNATURE --fid 3 --key-file fid-3.key",
  ],
  "address verify": [
    "address verify 0xADDRESS --block-hash 0xHASH --eth-signature 0xSIGNATURE --fid 3 --key-file fid-3.key",
  ],
  bans: [
    "bans add --fids 4,60 --fid 3 --key-file fid-3.key",
    "bans list --fid 3 --key-file fid-3.key --url https://node.example",
  ],
  "bans add": ["bans add --fids 4,60 --fid 3 --key-file fid-3.key"],
  "bans remove": ["bans remove --fids 60 --fid 3 --key-file fid-3.key"],
  "bans list": ["bans list --fid 3 --key-file fid-3.key"],
  "bans import": ["bans import banned.txt --fid 3 --key-file fid-3.key"],
  "bans export": ["bans export --fid 3 --key-file fid-3.key > banned.txt"],
  session: ["session list --fid 3 --key-file fid-3.key --url https://node.example"],
  "session list": ["session list --fid 3 --key-file fid-3.key"],
  "session end": [
    "session end SESSION_ID --fid 3 --key-file fid-3.key",
    "session end --all --fid 3 --key-file fid-3.key",
  ],
  "api-key": [
    "api-key create --fid 3 --key-file fid-3.key --name backend --scopes read,write > backend.key",
    "api-key list --fid 3 --key-file fid-3.key --url https://node.example",
  ],
  "api-key create": [
    "api-key create --fid 3 --key-file fid-3.key --name backend --scopes read,write > backend.key",
  ],
  "api-key list": ["api-key list --fid 3 --key-file fid-3.key"],
  "api-key get": ["api-key get API_KEY_ID --fid 3 --key-file fid-3.key"],
  "api-key update": [
    "api-key update API_KEY_ID --fid 3 --key-file fid-3.key --scopes read --units-per-minute 600",
    "api-key update API_KEY_ID --fid 3 --key-file fid-3.key --no-active",
  ],
  "api-key delete": ["api-key delete API_KEY_ID --fid 3 --key-file fid-3.key"],
  "api-key rotate": ["api-key rotate API_KEY_ID --fid 3 --key-file fid-3.key --grace-secs 0 > backend.key"],
  "api-key usage": ["api-key usage API_KEY_ID --fid 3 --key-file fid-3.key --from 2026-11-01"],
  webhook: [
    "webhook create --fid 3 --key-file fid-3.key --name Talk --target-url https://example.com/hook --on cast.created",
    "webhook test WEBHOOK_ID --fid 3 --key-file fid-3.key",
    "webhook deliveries WEBHOOK_ID --fid 3 --key-file fid-3.key --state failed",
  ],
  "webhook create": [
    "webhook create --fid 3 --key-file fid-3.key --name Talk --target-url https://example.com/hook --on cast.created --author-fids 1,2",
    "webhook create --fid 3 --key-file fid-3.key --name Talk --target-url https://example.com/hook --subscription file.json",
  ],
  "webhook list": ["webhook list --fid 3 --key-file fid-3.key"],
  "webhook get": ["webhook get WEBHOOK_ID --fid 3 --key-file fid-3.key"],
  "webhook update": ["webhook update WEBHOOK_ID --fid 3 --key-file fid-3.key --active"],
  "webhook delete": ["webhook delete WEBHOOK_ID --fid 3 --key-file fid-3.key"],
  "webhook rotate": ["webhook rotate WEBHOOK_ID --fid 3 --key-file fid-3.key"],
  "webhook deliveries": [
    "webhook deliveries WEBHOOK_ID --fid 3 --key-file fid-3.key --state failed --limit 100",
  ],
  "webhook delivery": ["webhook delivery WEBHOOK_ID msg_1 --fid 3 --key-file fid-3.key"],
  "webhook stats": ["webhook stats WEBHOOK_ID --fid 3 --key-file fid-3.key --hours 168"],
  "webhook preview": [
    "webhook preview --fid 3 --key-file fid-3.key --on cast.created --text '(?i)bread' --events 500",
  ],
  "webhook replay": [
    "webhook replay WEBHOOK_ID --fid 3 --key-file fid-3.key --from 2026-05-01T12:00:00Z",
    "webhook replay WEBHOOK_ID --fid 3 --key-file fid-3.key --message-id msg_1",
    "webhook replay WEBHOOK_ID --fid 3 --key-file fid-3.key --from 22:00 --only missing --dry-run",
  ],
  "webhook replay-status": ["webhook replay-status REPLAY_ID --fid 3 --key-file fid-3.key"],
  "webhook replay-cancel": ["webhook replay-cancel REPLAY_ID --fid 3 --key-file fid-3.key"],
  "webhook test": ["webhook test WEBHOOK_ID --fid 3 --key-file fid-3.key"],
  nodes: ["nodes", "nodes --json", "nodes remove NODE_ID"],
  "nodes remove": ["nodes remove NODE_ID"],
  incidents: ["incidents list --open", "incidents ack INCIDENT_ID --note disk-ordered"],
  "incidents list": ["incidents list", "incidents list --open --json"],
  "incidents ack": ["incidents ack INCIDENT_ID --note disk-ordered"],
  "incidents note": ["incidents note INCIDENT_ID disk-ordered"],
  "incidents mute": ["incidents mute INCIDENT_ID --hours 72"],
  notices: [
    "notices hook https://ntfy.sh/my-topic --label phone --preset ntfy",
    "notices list",
    "notices test CHANNEL_ID",
  ],
  "notices list": ["notices list", "notices list --json"],
  "notices hook": [
    "notices hook https://ntfy.sh/my-topic --label phone --preset ntfy --quiet 22:00-07:00 --zone Europe/Berlin",
  ],
  "notices test": ["notices test CHANNEL_ID"],
  "notices remove": ["notices remove CHANNEL_ID"],
  state: ["state pause deliveries --reason maintenance", "state resume all"],
  "state migrate": ["state migrate --config /etc/svc/svc.toml"],
  "state check": ["state check", "state check --restored --data-dir /var/lib/svc"],
  "state copy": [
    "state copy --to postgres --set state.url=postgres://svc@127.0.0.1/svc --dry-run",
    "state copy --to sqlite --config /etc/svc/svc.toml",
  ],
  "state pause": ["state pause sends deliveries --reason maintenance"],
  "state resume": ["state resume sends", "state resume all"],
  tokens: [
    "tokens import tokens.json --app-id APP_ID --dry-run",
    "tokens export --app-id APP_ID > tokens.json",
  ],
  "tokens import": [
    "tokens import tokens.json --app-id APP_ID --client-fid api.farcaster.xyz=9152 --dry-run",
  ],
  "tokens export": ["tokens export --app-id APP_ID > tokens.json"],
  sign: [
    "sign POST /v2/svc/webhook --fid 3 --key-file fid-3.key --body body.json | curl -H @- --data-binary @body.json …",
    "sign --op app.read --fid 3 --key-file fid-3.key",
  ],
  openapi: ["openapi > openapi.json"],
  healthcheck: ["healthcheck", "healthcheck http://127.0.0.1:8080 --live"],
  demo: ["demo keys --fid 3"],
  "demo keys": ["demo keys --fid 3", "demo keys --fid 4 --auth-address"],
  "demo-client": ["demo-client --app-id APP_ID --fids 4,5,6", "demo-client --answer rate-limited"],
  mcp: ["mcp", "mcp --url https://node.example --key-file key", "mcp --print-config claude"],
  listen: ["listen --secret SECRET", "listen --port 9200 --secret-file secrets --answer 503"],
  "replay-app": ["replay-app record calls.jsonl", "replay-app play calls.jsonl"],
  "replay-app record": ["replay-app record calls.jsonl", "--port 9301 replay-app record calls.jsonl"],
  "replay-app play": ["replay-app play calls.jsonl --url https://node.example --key-file app.key"],
  completion: ["completion bash > /etc/bash_completion.d/svc", "completion fish | source"],
  manpage: ["manpage > /usr/local/share/man/man1/svc.1"],
  version: [
    "version",
    "version --json",
    "version --check --from https://git.example/svc/releases/latest/download",
  ],
};

/** The environment variables, for the end of the help. */
const ENVIRONMENT = `
Environment:
  SVC_<SECTION>_<KEY>       any setting, as SVC_HTTP_PORT for http.port; lists are comma-separated
  SVC_<SECTION>_<KEY>_FILE  a file with the setting's value, as container secrets do
  SVC_CONFIG_FILE           the TOML file, unless --config names one
  SVC_KEY                   the custody key in hex for app, webhook and sign without --key-file
  GRPC_DEFAULT_SSL_ROOTS_FILE_PATH
                            the certificate authorities (PEM) to trust for an https upstream.url
\`config defaults\` prints every setting. Flags override variables, and variables override the file.
`;

const GLOBAL_OPTIONS = `\nThe options of \`${commandName} --help\` are valid here too, such as --config, --data-dir and --set.`;

/** The examples of the command at this path. */
export function examplesOf(path: string): readonly string[] {
  return EXAMPLES[path] ?? [];
}

/** Appends examples to the help of every command, and the environment variables to the program's. */
export function addExamples(program: Command): void {
  const add = (command: Command, path: readonly string[]) => {
    const lines = examplesOf(path.join(" ")).map((line) => `  ${commandName} ${line}\n`);
    if (lines.length > 0) command.addHelpText("after", `\nExamples:\n${lines.join("").trimEnd()}`);
    if (path.length > 0) command.addHelpText("after", GLOBAL_OPTIONS);
    for (const child of command.commands) add(child, [...path, child.name()]);
  };
  add(program, []);
  program.addHelpText("after", ENVIRONMENT.trimEnd());
}
