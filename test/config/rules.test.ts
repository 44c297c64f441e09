import { expect, test } from "bun:test";
import { ConfigError, loadConfig } from "../../src/config/load.ts";
import { settings } from "../../src/config/settings/settings.ts";
import { inputOf, load, problemsOf } from "./input.ts";

const REFUSED: readonly [key: string, texts: readonly string[]][] = [
  ["service.name", ["", "Svc", "1svc", "-svc", "svc-x", "svc_x", "s".repeat(33), "svc\n"]],
  ["service.compat_prefixes", ["Farcaster", "a/b", "a,a", "a,b,c,d,e,f,g,h,i"]],
  ["service.shutdown_deadline_secs", ["0", "601", "1.5", "ten", ""]],
  ["data.dir", ["", "a\nb", "x".repeat(1025)]],
  ["state.url", ["localhost/svc", "mysql://u@h/d", "postgres://h/d", "postgres://u@h/d?sslmode=prefer"]],
  ["state.password", ["a\nb", "x".repeat(1025)]],
  ["state.schema", ["", "Svc", "1svc", "pg_svc", 'a"b', "s".repeat(64)]],
  ["state.connections", ["-1", "201"]],
  ["state.timeout_ms", ["499", "60001"]],
  ["http.host", ["", "a b", "127.0.0.256", "[::1]", "http://x", "-a.example", `${"a".repeat(64)}.example`]],
  ["http.port", ["-1", "65536", "80.5", "0x50", "1e3", " 80", "99999999999999999999"]],
  ["http.max_ids", ["0", "1001"]],
  [
    "http.cors_origins",
    ["https://a.example/", "a.example", "*,https://A.example", "ftp://a", "https://u@a.example"],
  ],
  ["http.trusted_proxies", ["10.0.0.1", "10.0.0.0/33", "fd00::/129", "fe80::1%eth0/64", "proxy"]],
  ["http.proxy_header", ["", "X-Real-IP", "x-forwarded-for,forwarded"]],
  ["http.idle_timeout_secs", ["0", "256"]],
  ["http.shutdown_grace_secs", ["-1", "600"]],
  ["http.drain_delay_secs", ["-1", "599"]],
  ["node.id", ["A", "-a", "a b", "a".repeat(64)]],
  ["hub.admin", ["yes", "1", "TRUE", ""]],
  [
    "upstream.url",
    [
      "host:3383",
      "ftp://host",
      "http://",
      "http://a b",
      "https://x\n",
      "http://u:p@h",
      "http://@h",
      "http://h/x",
      "https://10.0.0.1:3383",
      "https://[::1]",
    ],
  ],
  ["upstream.username", ["a:b", "a\n", "é", "x".repeat(257)]],
  ["upstream.password", ["a\n", "é", "x".repeat(257)]],
  ["upstream.fids", ["0", "1,x", "-1", "1.5", "9007199254740992", Array(10_001).fill("1").join(",")]],
  ["upstream.fid_file", ["a\nb", "x".repeat(1025)]],
  ["upstream.ready_lag_secs", ["0", "86401"]],
  ["upstream.urls", ["host:3383", "http://h/x", "http://h,http://h", '[""]']],
  ["upstream.concurrency", ["-1", "257"]],
  ["upstream.max_calls_per_sec", ["-1", "10001"]],
  ["upstream.contact", ["a (b)", "x".repeat(129), "a\nb"]],
  ["upstream.bulk_from", ["a b", "http://host"]],
  ["trust.level", ["root", ""]],
  ["trust.roots", ["all", ""]],
  ["trust.validators_file", ["a\nb", "x".repeat(1025)]],
  ["trust.on_unknown_set", ["ignore", ""]],
  ["trust.on_mismatch", ["heal", ""]],
  ["protocol.network", ["main", "Mainnet", ""]],
  ["chain.l1_rpc_url", ["ws://host", "x", `https://x/${"a".repeat(2048)}`]],
  ["auth.signed_at_window_secs", ["0", "3601"]],
  ["service.public_url", ["x", "ftp://x", "https://x/", "https://x/a?b", "https://u@x", "https://x/#a"]],
  ["signers.encryption_key", ["x", "0".repeat(63), "0".repeat(65), "g".repeat(64)]],
  [
    "signers.previous_encryption_keys",
    ["x", Array.from({ length: 5 }, (_, n) => `${n}`.repeat(64)).join(",")],
  ],
  ["signers.key_ttl_secs", ["0", "7776001"]],
  ["signers.max_signers_per_owner", ["-1", "10000001"]],
  ["apps.max_apps_per_owner", ["-1", "10001"]],
  ["apps.secret_grace_period_secs", ["-1", "2592001"]],
  ["api_keys.max_keys_per_owner", ["-1", "10001"]],
  ["api_keys.secret_grace_period_secs", ["-1", "2592001"]],
  ["api_keys.units_per_minute", ["0", "1000000001"]],
  ["api_keys.writes_per_minute", ["0", "1000001"]],
  ["api_keys.burst_units", ["0", "1000000001"]],
  ["http.anonymous_units_per_minute", ["-1", "1000000001"]],
  ["http.anonymous_burst_units", ["-1", "1000000001"]],
  ["webhooks.max_webhooks_per_owner", ["-1", "10001"]],
  ["webhooks.secret_grace_period_secs", ["-1", "2592001"]],
  ["webhooks.delivery_timeout_secs", ["0", "61"]],
  ["webhooks.delivery_concurrency", ["0", "1025"]],
  ["webhooks.retry_max_attempts", ["0", "21"]],
  ["webhooks.retry_initial_backoff_ms", ["0", "3600001"]],
  ["webhooks.rate_limit", ["0", "1000001"]],
  ["webhooks.rate_limit_duration_secs", ["0", "86401"]],
  ["send.send_concurrency", ["0", "1025"]],
  ["send.send_timeout_secs", ["0", "61"]],
  ["send.dedupe_ttl_secs", ["0", "2592001"]],
  ["backup.keep", ["0", "1001"]],
  ["backup.url", ["https://bucket/prefix", "s3://bucket", "s3://Bucket/prefix", "s3://bucket//prefix"]],
  ["backup.region", ["", "us east"]],
  ["backup.encryption_key", ["00", "g".repeat(64)]],
  ["backup.at", ["3:15", "24:00", "03:60", "03:15:00"]],
  ["stream.retention_hours", ["0", "169"]],
  ["trending.window_hours", ["0", "721"]],
  ["notifications.aggregation_window_secs", ["0", "604801"]],
  ["net.allow_cidrs", ["10.0.0.0", "10.0.0.0/33", "::/129", "10.0.0/8", "x/8", "fe80::%eth0/64"]],
  ["log.level", ["verbose", "INFO"]],
  ["log.format", ["text"]],
];

const ACCEPTED: readonly [key: string, texts: readonly string[]][] = [
  ["service.name", ["a", "social2", "s".repeat(32)]],
  ["service.compat_prefixes", ["", "farcaster", "a,b,c,d,e,f,g,h"]],
  ["http.host", ["0.0.0.0", "::", "localhost", "node-1.example", "1host"]],
  ["state.url", ["", "postgres://u@h/d", "postgresql://u:p@[::1]:6000/d?sslmode=require"]],
  ["http.port", ["0", "65535"]],
  ["hub.port", ["-1", "0", "65535"]],
  ["upstream.url", ["", "http://host:3383", "https://host", "HTTPS://Host:443/", "http://[::1]:3383"]],
  ["upstream.fids", ["", "1,9007199254740991"]],
  ["trust.level", ["node", "blocks", "roots"]],
  ["trust.roots", ["sample", "full"]],
  ["trust.on_unknown_set", ["stop", "warn"]],
  ["trust.on_mismatch", ["serve", "stop"]],
  ["trust.events", ["one", "two"]],
  ["protocol.network", ["mainnet", "testnet", "devnet"]],
  ["chain.l1_rpc_url", ["", "https://eth.example/v2/key?x=1"]],
  ["net.allow_cidrs", ["0.0.0.0/0,::/0,10.1.2.3/32"]],
  ["log.level", ["trace", "debug", "info", "warn", "error", "fatal", "silent"]],
];

test.each(REFUSED)("%s: every text that breaks its rule is refused by name", (key, texts) => {
  for (const text of texts) {
    const [problem, ...others] = problemsOf({ flags: { set: [`${key}=${text}`] } });
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ key, source: "--set" });
    expect(problem?.message).toStartWith("must be ");
  }
});

test.each(ACCEPTED)("%s: the texts at the edge of its rule are accepted", (key, texts) => {
  for (const text of texts) expect(() => load({ flags: { set: [`${key}=${text}`] } })).not.toThrow();
});

test("a value of another TOML type is refused for every setting", () => {
  for (const { section, name, key, schema } of settings) {
    const wrong = schema.type === "array" ? '"10.0.0.0/8"' : "[1]";
    const files = { "/cwd/svc.toml": `[${section}]\n${name} = ${wrong}` };
    expect(problemsOf({ files })).toMatchObject([{ key, source: "/cwd/svc.toml" }]);
  }
});

test("reports all errors at once, each with its key, its source and its rule", () => {
  const sources = {
    files: { "/cwd/svc.toml": '[http]\nport = "80"\nshutdown_grace_secs = 50\n[oops]\nx = 1' },
    env: { SVC_HUB_PORT: "70000", SVC_HTTP_PRT: "1", SVC_LOG_LEVEL_FILE: "/gone" },
    flags: { port: "-5", logFormat: "xml" },
  };
  expect(
    problemsOf(sources)
      .map(({ key, source }) => `${key} < ${source}`)
      .sort(),
  ).toEqual([
    "SVC_HTTP_PRT < environment",
    "http.port < --port",
    "http.port < /cwd/svc.toml",
    "http.shutdown_grace_secs < /cwd/svc.toml",
    "hub.port < SVC_HUB_PORT",
    "log.format < --log-format",
    "log.level < file of SVC_LOG_LEVEL_FILE",
    "oops < /cwd/svc.toml",
  ]);
  expect(() => loadConfig(inputOf(sources))).toThrow(ConfigError);
  expect(() => loadConfig(inputOf(sources))).toThrow(
    '  http.port: must be an integer from 0 to 65535, got "80" (/cwd/svc.toml)\n',
  );
});

test("a bad value is refused also where a later source replaces it", () => {
  const problems = problemsOf({ env: { SVC_HTTP_PORT: "x" }, flags: { port: "1" } });
  expect(problems).toMatchObject([{ key: "http.port", source: "SVC_HTTP_PORT" }]);
});

test("the message that rejects a secret setting never contains its value", () => {
  const problems = problemsOf({ env: { SVC_CHAIN_L1_RPC_URL: "wss://user:hunter2hunter2@host" } });
  expect(problems).toHaveLength(1);
  expect(new ConfigError(problems).message).not.toContain("hunter2");
});

test("settings that do not go together are refused", () => {
  const refusedKeys = (...set: string[]) => problemsOf({ flags: { set } }).map(({ key }) => key);
  expect(refusedKeys("service.shutdown_deadline_secs=5")).toEqual(["http.shutdown_grace_secs"]);
  expect(refusedKeys("service.shutdown_deadline_secs=10", "http.drain_delay_secs=5")).toEqual([
    "http.drain_delay_secs",
  ]);
  expect(refusedKeys("service.name=farcaster")).toEqual(["service.compat_prefixes"]);
  expect(refusedKeys("hub.port=8080")).toEqual(["hub.port"]);
  expect(refusedKeys("hub.port=8080", "hub.host=0.0.0.0")).toEqual(["hub.port"]);
  for (const host of ["0.0.0.0", "::", "192.168.1.1", "node.example", "127.example"]) {
    expect(refusedKeys("hub.admin=true", `hub.host=${host}`)).toEqual(["hub.admin"]);
  }
  expect(refusedKeys("upstream.username=u")).toEqual(["upstream.username"]);
  expect(refusedKeys("upstream.password=p")).toEqual(["upstream.password"]);
  expect(refusedKeys("trust.events=rpc")).toEqual(["trust.events"]);
  const rpc = "chain.op_rpc_url=https://op.example";
  expect(refusedKeys("trust.events=rpc", rpc, "protocol.network=devnet")).toEqual(["trust.events"]);
});

test("a list of tools for agents has known names only", () => {
  const [problem] = problemsOf({ flags: { set: ["mcp.tools=get_user,get_everything"] } });
  expect(problem?.key).toBe("mcp.tools");
  expect(load({ flags: { set: ["mcp.tools=get_user,publish_cast"] } }).config.mcp.tools).toEqual([
    "get_user",
    "publish_cast",
  ]);
});

test("headers of traces are names and values, and no message repeats them", () => {
  for (const headers of [
    "key",
    "=secret",
    "a b=secret",
    "key=secret,",
    `key=${"s".repeat(4097)}`,
    "key=secret\r\nx",
  ]) {
    const [problem] = problemsOf({ flags: { set: [`trace.headers=${headers}`] } });
    expect([headers, problem?.key, JSON.stringify(problem)]).toEqual([
      headers,
      "trace.headers",
      expect.not.stringContaining("secret"),
    ]);
  }
  const headers = "api-key=a%3Db=,authorization=Basic dXNlcg==";
  expect(load({ flags: { set: [`trace.headers=${headers}`] } }).config.trace.headers).toBe(headers);
});

test("settings that go together are accepted", () => {
  const accepted = (...set: string[]) => expect(() => load({ flags: { set } })).not.toThrow();
  accepted("hub.port=8080", "hub.host=::1");
  accepted("hub.port=0", "http.port=0");
  accepted("hub.port=-1", "http.port=0");
  accepted("service.shutdown_deadline_secs=11", "http.drain_delay_secs=5");
  accepted("upstream.username=u", "upstream.password=p:q");
  accepted("trust.events=rpc", "chain.op_rpc_url=https://op.example");
  for (const host of ["127.0.0.1", "127.9.9.9", "::1", "0:0:0:0:0:0:0:1", "localhost"]) {
    accepted("hub.admin=true", `hub.host=${host}`);
  }
});
