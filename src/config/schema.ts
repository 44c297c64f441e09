import { type Static, Type } from "@sinclair/typebox";
import { MAX_UPSTREAMS } from "./formats.ts";
import { MCP_TOOLS } from "./names.ts";
import {
  credential,
  domains,
  fidList,
  flag,
  host,
  integer,
  MAX_INDEX_BYTES,
  MAX_PATH_CHARS,
  MAX_URL_CHARS,
  networks,
  oneOf,
  path,
  port,
  section,
  text,
  urlOrEmpty,
} from "./settings/setting-types.ts";

const SERVICE_NAME = "^[a-z][a-z0-9]{0,31}$";
const SERVICE_NAME_RULE = "a lower-case letter, then up to 31 lower-case letters or digits";

/** The types and bounds of all settings. `defaults.toml` documents them. */
export const configSchema = section({
  service: section({
    name: text(SERVICE_NAME, SERVICE_NAME_RULE),
    compat_prefixes: Type.Array(text(SERVICE_NAME, SERVICE_NAME_RULE), {
      maxItems: 8,
      uniqueItems: true,
      rule: `a list of at most 8 different names, each ${SERVICE_NAME_RULE}`,
    }),
    shutdown_deadline_secs: integer(1, 600),
    public_url: Type.String({
      format: "config-public-url",
      maxLength: MAX_URL_CHARS,
      rule: 'empty or a URL such as "https://host.example" or "https://host.example/path", without query and slash at the end',
    }),
    ready_when_empty: flag(),
  }),
  node: section({
    id: text(
      "^([a-z0-9][a-z0-9.-]{0,62})?$",
      "empty or a lower-case letter or digit, then up to 62 lower-case letters, digits, dots or hyphens",
    ),
  }),
  data: section({
    dir: text(
      "^[^\\u0000-\\u001f\\u007f]+$",
      `a path of 1 to ${MAX_PATH_CHARS} characters without control characters`,
      MAX_PATH_CHARS,
    ),
  }),
  state: section({
    url: Type.String({
      format: "config-postgres-url",
      maxLength: MAX_URL_CHARS,
      rule: 'empty or a URL such as "postgres://user@host:5432/database?sslmode=verify-full"',
    }),
    password: text(
      "^[^\\u0000-\\u001f\\u007f]*$",
      "at most 1024 characters without control characters",
      1024,
    ),
    tls_ca_file: path(),
    schema: text(
      "^(?!pg_)[a-z_][a-z0-9_]{0,62}$",
      'a lower-case letter or "_", then up to 62 lower-case letters, digits or "_", but not "pg_" at the start',
    ),
    connections: integer(0, 200),
    timeout_ms: integer(500, 60_000),
    migrate: flag(),
  }),
  http: section({
    host: host(),
    port: port(),
    workers: integer(0, 64),
    max_ids: integer(1, 1000),
    cors_origins: Type.Array(
      Type.String({ format: "config-origin", rule: '"*" or an origin such as "https://app.example"' }),
      {
        maxItems: 64,
        rule: 'a list of at most 64 entries, each "*" or an origin such as "https://app.example"',
      },
    ),
    anonymous: flag(),
    anonymous_units_per_minute: integer(0, 1_000_000_000),
    anonymous_burst_units: integer(0, 1_000_000_000),
    trusted_proxies: networks(),
    proxy_header: oneOf("x-forwarded-for", "forwarded"),
    idle_timeout_secs: integer(1, 255),
    shutdown_grace_secs: integer(0, 599),
    drain_delay_secs: integer(0, 598),
  }),
  hub: section({
    host: host(),
    port: integer(-1, 65_535),
    http_port: port(),
    reads: flag(),
    relay_blocks: flag(),
    replication: flag(),
    event_retention_hours: integer(1, 720),
    max_subscribers: integer(1, 10_000),
    max_subscribers_per_ip: integer(1, 10_000),
    admin: flag(),
  }),
  index: section({
    max_bytes: integer(0, MAX_INDEX_BYTES),
    full_text: flag(),
  }),
  upstream: section({
    url: Type.String({
      format: "config-node-url",
      maxLength: MAX_URL_CHARS,
      // The URL may contain credentials, so messages do not repeat it.
      rule: 'empty or a URL such as "http://host:3383", without path, user and password, and with https by a host name',
    }),
    urls: Type.Array(Type.String({ format: "config-node-url", minLength: 1, maxLength: MAX_URL_CHARS }), {
      maxItems: MAX_UPSTREAMS,
      uniqueItems: true,
      rule: `a list of at most ${MAX_UPSTREAMS} different URLs such as "https://host:3383", each without path, user and password, and with https by a host name`,
    }),
    username: text(
      "^[\\x20-\\x39\\x3b-\\x7e]*$",
      "at most 256 printable ASCII characters without a colon",
      256,
    ),
    password: text("^[\\x20-\\x7e]*$", "at most 256 printable ASCII characters", 256),
    fids: fidList(),
    fid_file: path(),
    ready_lag_secs: integer(1, 86_400),
    concurrency: integer(0, 256),
    max_calls_per_sec: integer(0, 10_000),
    contact: text(
      "^[\\x20-\\x27\\x2a-\\x7e]*$",
      "at most 128 printable ASCII characters without parentheses",
      128,
    ),
    discover: flag(),
    bulk_from: Type.Array(Type.String({ format: "config-host", rule: "a host name or an IP address" }), {
      maxItems: MAX_UPSTREAMS,
      rule: `a list of at most ${MAX_UPSTREAMS} host names or IP addresses`,
    }),
    verify_threads: integer(0, 64),
  }),
  trust: section({
    level: oneOf("node", "blocks", "roots"),
    roots: oneOf("sample", "full"),
    validators_file: path(),
    events: oneOf("one", "two", "rpc"),
    on_unknown_set: oneOf("stop", "warn"),
    on_mismatch: oneOf("serve", "stop"),
    serve_unproven: flag(),
  }),
  protocol: section({
    network: oneOf("mainnet", "testnet", "devnet"),
    engine_versions: Type.Array(
      text("^[1-9][0-9]{0,3}=[0-9]{1,10}$", 'a version and unix seconds such as "21=1790000000"'),
      { maxItems: 64, rule: 'a list of at most 64 entries such as "21=1790000000"' },
    ),
  }),
  channels: section({
    protocol_names: oneOf("win", "lose"),
  }),
  chain: section({
    l1_rpc_url: urlOrEmpty(),
    op_rpc_url: urlOrEmpty(),
    base_rpc_url: urlOrEmpty(),
    tokens: Type.Array(text("^0x[0-9a-fA-F]{40}$", "an address such as 0x8335…"), {
      maxItems: 20,
      rule: "a list of at most 20 addresses",
    }),
  }),
  auth: section({
    signed_at_window_secs: integer(1, 3600),
    sessions: flag(),
    session_ttl_secs: integer(300, 43_200),
  }),
  signers: section({
    enabled: flag(),
    encryption_key: text("^([0-9a-fA-F]{64})?$", "empty or 64 hexadecimal digits"),
    previous_encryption_keys: Type.Array(text("^[0-9a-fA-F]{64}$", "64 hexadecimal digits"), {
      maxItems: 4,
      uniqueItems: true,
      rule: "a list of at most 4 different keys, each of 64 hexadecimal digits",
    }),
    key_ttl_secs: integer(1, 7_776_000),
    export: flag(),
    max_signers_per_owner: integer(0, 10_000_000),
  }),
  quick_auth: section({
    enabled: flag(),
    algorithm: oneOf("RS256", "ES256"),
    token_ttl_secs: integer(60, 86_400),
    key_rotation_days: integer(0, 3650),
    domains: domains(),
  }),
  web_signin: section({
    enabled: flag(),
    upstream_relay: Type.String({
      format: "config-http-url",
      maxLength: MAX_URL_CHARS,
      rule: "empty or an http or https URL",
    }),
    direct: flag(),
    refused_domains: domains(),
  }),
  registry_rpc: section({ enabled: flag() }),
  apps: section({
    max_apps_per_owner: integer(0, 10_000),
    secret_grace_period_secs: integer(0, 2_592_000),
  }),
  api_keys: section({
    max_keys_per_owner: integer(0, 10_000),
    secret_grace_period_secs: integer(0, 2_592_000),
    units_per_minute: integer(1, 1_000_000_000),
    burst_units: integer(1, 1_000_000_000),
    writes_per_minute: integer(1, 1_000_000),
  }),
  webhooks: section({
    max_webhooks_per_owner: integer(0, 10_000),
    secret_grace_period_secs: integer(0, 2_592_000),
    delivery_timeout_secs: integer(1, 60),
    delivery_concurrency: integer(0, 1024),
    retry_max_attempts: integer(1, 20),
    retry_initial_backoff_ms: integer(1, 3_600_000),
    rate_limit: integer(1, 1_000_000),
    rate_limit_duration_secs: integer(1, 86_400),
  }),
  send: section({
    send_concurrency: integer(0, 1024),
    send_timeout_secs: integer(1, 60),
    dedupe_ttl_secs: integer(1, 2_592_000),
  }),
  writes: section({
    enabled: flag(),
    confirm_timeout_ms: integer(0, 20_000),
    max_queued: integer(1, 1_000_000),
    fid_messages_per_hour: integer(1, 1_000_000),
    mute_links: flag(),
  }),
  stream: section({
    enabled: flag(),
    retention_hours: integer(1, 168),
    max_connections: integer(1, 100_000),
    max_connections_per_ip: integer(1, 100_000),
  }),
  trending: section({ window_hours: integer(1, 720) }),
  feeds: section({
    for_you: oneOf("ranked", "trending"),
  }),
  notifications: section({ aggregation_window_secs: integer(1, 604_800) }),
  net: section({
    allow_cidrs: networks(),
    allow_http: flag(),
  }),
  backup: section({
    dir: path(),
    url: text(
      "^(s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\\w!*'().-]+)+/?)?$",
      "empty or a URL such as s3://bucket/prefix",
      MAX_URL_CHARS,
    ),
    endpoint: urlOrEmpty(),
    region: text("^[a-z0-9-]{1,64}$", "1 to 64 lower-case letters, digits and hyphens"),
    access_key_id: credential(),
    secret_access_key: credential(),
    session_token: credential(),
    encryption_key: text("^([0-9a-fA-F]{64})?$", "empty or 64 hexadecimal digits"),
    keep: integer(1, 1000),
    at: text("^(([01]\\d|2[0-3]):[0-5]\\d)?$", 'empty or a time of day in UTC such as "03:15"'),
    index: flag(),
  }),
  console: section({
    enabled: flag(),
    manage: flag(),
    operator: flag(),
    operator_token: text(
      "^([\\x21-\\x7e]{32,256})?$",
      "empty or 32 to 256 printable ASCII characters without spaces",
    ),
    images: oneOf("ask", "off"),
    status: oneOf("public", "operator"),
  }),
  history: section({
    enabled: flag(),
    max_bytes: integer(8_388_608, 10_737_418_240),
    log_days: integer(1, 365),
  }),
  checks: section({
    off: Type.Array(text("^[a-z][a-z_]{0,31}$", 'the id of a check such as "disk_fills_up"'), {
      maxItems: 64,
      uniqueItems: true,
      rule: 'a list of at most 64 different ids of checks such as "disk_fills_up"',
    }),
    index_behind_secs: integer(10, 86_400),
    disk_free_bytes: integer(0, MAX_INDEX_BYTES),
    index_percent: integer(10, 100),
    error_percent: integer(1, 100),
    latency_ms: integer(10, 60_000),
    queue_age_secs: integer(60, 86_400),
  }),
  notify: section({
    push_hosts: Type.Array(
      text(
        "^(\\*\\.)?[a-z0-9-]+(\\.[a-z0-9-]+)*$",
        'a host name such as "fcm.googleapis.com" or "*.push.apple.com"',
      ),
      {
        maxItems: 64,
        uniqueItems: true,
        rule: 'a list of at most 64 different host names such as "fcm.googleapis.com" or "*.push.apple.com"',
      },
    ),
    contact: text(
      "^(mailto:[^\\s<>]+@[^\\s<>]+|https://[^\\s<>]+)?$",
      'empty, or a URL such as "mailto:ops@example.org"',
      255,
    ),
    max_channels_per_owner: integer(0, 50),
  }),
  scores: section({
    mode: oneOf("off", "computed", "imported", "both"),
    hour_utc: integer(0, 23),
    seeds: fidList(),
    seeds_add: fidList(),
    not_seeds: fidList(),
    unknown: Type.Number({ minimum: 0, maximum: 1, rule: "a number from 0 to 1" }),
    enforce: Type.Array(
      Type.Union([
        Type.Literal("webhooks"),
        Type.Literal("sends"),
        Type.Literal("search"),
        Type.Literal("feeds"),
        Type.Literal("fold"),
      ]),
      {
        maxItems: 5,
        uniqueItems: true,
        rule: 'a list of "webhooks", "sends", "search", "feeds", "fold"',
      },
    ),
    fold_below: Type.Number({ minimum: 0, maximum: 1, rule: "a number from 0 to 1" }),
    max_memory_mb: integer(16, 65_536),
  }),
  previews: section({
    mode: oneOf("off", "on_demand", "live"),
    max_mb: integer(16, 65_536),
    oembed_hosts: Type.Array(Type.String({ format: "config-host", rule: "a host name" }), {
      maxItems: 64,
      rule: "a list of at most 64 host names",
    }),
    proxy_url: urlOrEmpty(),
  }),
  mcp: section({
    enabled: flag(),
    max_result_bytes: integer(16_384, 1_048_576),
    writes: flag(),
    tools: Type.Array(text(`^(${MCP_TOOLS.join("|")})$`, `one of ${MCP_TOOLS.join(", ")}`), {
      maxItems: MCP_TOOLS.length,
      uniqueItems: true,
      rule: "a list of different names of tools",
    }),
  }),
  trace: section({
    endpoint: urlOrEmpty(),
    headers: text(
      "^([A-Za-z0-9-]{1,128}=[\\x20-\\x2b\\x2d-\\x7e]{1,4096}(,(?!$)|$)){0,16}$",
      'empty or at most 16 headers such as "api-key=KEY,tenant=NAME"',
    ),
    sample_ratio: Type.Number({ minimum: 0, maximum: 1, rule: "a number from 0 to 1" }),
  }),
  log: section({
    level: oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent"),
    format: oneOf("json", "pretty"),
  }),
});

/** All settings, nested by section, with the names of the TOML file. */
export type Config = Static<typeof configSchema>;
