import { expect, test } from "bun:test";
import { settingValue } from "../../src/config/secrets.ts";
import { settings } from "../../src/config/settings/settings.ts";
import { load, problemsOf } from "./input.ts";

test("without any source the values are those that decisions section 11 names", () => {
  const { config, file } = load();
  expect(file).toBeUndefined();
  expect(config).toEqual({
    service: {
      name: "svc",
      compat_prefixes: ["farcaster"],
      shutdown_deadline_secs: 9,
      public_url: "",
      ready_when_empty: true,
    },
    node: { id: "" },
    data: { dir: "./data" },
    state: {
      url: "",
      password: "",
      tls_ca_file: "",
      schema: "svc",
      connections: 0,
      timeout_ms: 5000,
      migrate: true,
    },
    http: {
      host: "127.0.0.1",
      port: 8080,
      workers: 0,
      max_ids: 350,
      cors_origins: ["*"],
      anonymous: true,
      anonymous_units_per_minute: 0,
      anonymous_burst_units: 0,
      trusted_proxies: [],
      proxy_header: "x-forwarded-for",
      idle_timeout_secs: 30,
      shutdown_grace_secs: 5,
      drain_delay_secs: 0,
    },
    hub: {
      host: "127.0.0.1",
      port: 3383,
      http_port: 0,
      reads: true,
      relay_blocks: true,
      replication: false,
      event_retention_hours: 72,
      max_subscribers: 256,
      max_subscribers_per_ip: 16,
      admin: false,
    },
    index: { max_bytes: 0, full_text: true },
    upstream: {
      url: "",
      urls: [],
      username: "",
      password: "",
      fids: [],
      fid_file: "",
      ready_lag_secs: 30,
      concurrency: 0,
      max_calls_per_sec: 0,
      contact: "",
      discover: false,
      bulk_from: [],
      verify_threads: 0,
    },
    trust: {
      level: "roots",
      roots: "sample",
      validators_file: "",
      events: "two",
      on_unknown_set: "stop",
      on_mismatch: "serve",
      serve_unproven: true,
    },
    protocol: { network: "mainnet", engine_versions: [] },
    channels: { protocol_names: "win" },
    chain: { l1_rpc_url: "", op_rpc_url: "", base_rpc_url: "", tokens: [] },
    auth: { signed_at_window_secs: 300, sessions: true, session_ttl_secs: 28_800 },
    signers: {
      enabled: true,
      encryption_key: "",
      previous_encryption_keys: [],
      key_ttl_secs: 7_776_000,
      export: true,
      max_signers_per_owner: 100_000,
    },
    quick_auth: {
      enabled: true,
      algorithm: "RS256",
      token_ttl_secs: 3600,
      key_rotation_days: 30,
      domains: [],
    },
    web_signin: { enabled: true, upstream_relay: "", direct: false, refused_domains: [] },
    registry_rpc: { enabled: true },
    apps: { max_apps_per_owner: 25, secret_grace_period_secs: 86400 },
    api_keys: {
      max_keys_per_owner: 25,
      secret_grace_period_secs: 86400,
      units_per_minute: 60_000,
      burst_units: 10_000,
      writes_per_minute: 120,
    },
    webhooks: {
      max_webhooks_per_owner: 25,
      secret_grace_period_secs: 86400,
      delivery_timeout_secs: 10,
      delivery_concurrency: 16,
      retry_max_attempts: 5,
      retry_initial_backoff_ms: 500,
      rate_limit: 1000,
      rate_limit_duration_secs: 60,
    },
    send: { send_concurrency: 32, send_timeout_secs: 10, dedupe_ttl_secs: 86400 },
    writes: {
      enabled: true,
      confirm_timeout_ms: 5000,
      max_queued: 20000,
      fid_messages_per_hour: 1000,
      mute_links: false,
    },
    stream: { enabled: true, retention_hours: 24, max_connections: 1000, max_connections_per_ip: 10 },
    feeds: { for_you: "ranked" },
    trending: { window_hours: 24 },
    notifications: { aggregation_window_secs: 3600 },
    net: { allow_cidrs: [], allow_http: false },
    backup: {
      dir: "",
      url: "",
      endpoint: "",
      region: "us-east-1",
      access_key_id: "",
      secret_access_key: "",
      session_token: "",
      encryption_key: "",
      keep: 7,
      at: "",
      index: false,
    },
    console: {
      enabled: true,
      manage: true,
      operator: true,
      operator_token: "",
      images: "ask",
      status: "public",
    },
    history: { enabled: true, max_bytes: 134_217_728, log_days: 7 },
    checks: {
      off: [],
      index_behind_secs: 120,
      disk_free_bytes: 2_000_000_000,
      index_percent: 90,
      error_percent: 1,
      latency_ms: 1000,
      queue_age_secs: 300,
    },
    notify: {
      push_hosts: [
        "fcm.googleapis.com",
        "*.push.services.mozilla.com",
        "*.push.apple.com",
        "*.notify.windows.com",
      ],
      contact: "",
      max_channels_per_owner: 5,
    },
    scores: {
      mode: "off",
      hour_utc: 4,
      seeds: [],
      seeds_add: [],
      not_seeds: [],
      unknown: 0,
      enforce: [],
      fold_below: 0.2,
      max_memory_mb: 1024,
    },
    previews: { mode: "off", max_mb: 256, oembed_hosts: [], proxy_url: "" },
    mcp: { enabled: true, max_result_bytes: 65_536, writes: false, tools: [] },
    trace: { endpoint: "", headers: "", sample_ratio: 1 },
    log: { level: "info", format: "json" },
  });
});

test("the settings cannot be changed once they are loaded", () => {
  const { config } = load();
  expect(Object.isFrozen(config)).toBe(true);
  expect(settings.every(({ section }) => Object.isFrozen(Reflect.get(config, section)))).toBe(true);
  expect(Object.isFrozen(config.http.cors_origins)).toBe(true);
});

test("a found settings file of another node is reported; one that was named, or is this node's, is not", () => {
  const files = { "/cwd/svc.toml": "[data]\ndir = '/var/lib/other'" };
  const warningsOf = (sources: Parameters<typeof load>[0]) => load(sources).warnings.join();
  expect(warningsOf({ files, flags: { dataDir: "/var/lib/own" } })).toContain(
    "/cwd/svc.toml counts here, although it is of the node with the data in /var/lib/other",
  );
  expect(warningsOf({ files, env: { SVC_DATA_DIR: "own" } })).toContain("although");
  expect(warningsOf({ files })).toBe("");
  expect(warningsOf({ files, flags: { dataDir: "/var/lib/../lib/other" } })).toBe("");
  expect(warningsOf({ files, flags: { dataDir: "own", config: "/cwd/svc.toml" } })).toBe("");
});

test("changes made on the operator's page rank between the file and the environment, and only where the page may change them", () => {
  const dir = "[data]\ndir = '/data'\n[http]\nmax_ids = 11";
  const files = { "/cwd/svc.toml": dir, "/data/settings.toml": "[http]\nmax_ids = 22" };
  const idsOf = (sources: Parameters<typeof load>[0]) => {
    const { config, sources: from } = load(sources);
    return [config.http.max_ids, from.get("http.max_ids")];
  };
  expect(idsOf({ files })).toEqual([22, "console"]);
  expect(idsOf({ files, env: { SVC_HTTP_MAX_IDS: "33" } })).toEqual([33, "SVC_HTTP_MAX_IDS"]);
  // Of another data directory.
  expect(idsOf({ files, flags: { dataDir: "/other" } })).toEqual([11, "/cwd/svc.toml"]);
  expect(problemsOf({ files: { ...files, "/data/settings.toml": "[net]\nallow_http = true" } })).toEqual([
    {
      key: "net.allow_http",
      section: "net",
      source: "/data/settings.toml",
      message: "is not changed here: set it in the settings file",
    },
  ]);
  expect(problemsOf({ files: { ...files, "/data/settings.toml": "not toml" } })).toMatchObject([
    { key: "/data/settings.toml" },
  ]);
});

test("each source overrides the previous ones: defaults, file, environment, flag, --set", () => {
  const files = { "/cwd/svc.toml": "[http]\nport = 1\nmax_ids = 11\n[log]\nlevel = 'warn'" };
  const env = { SVC_HTTP_PORT: "2", SVC_LOG_LEVEL: "error" };
  const portFrom = (sources: Parameters<typeof load>[0]) => {
    const { config, sources: from } = load(sources);
    return [config.http.port, from.get("http.port")];
  };
  expect(portFrom({})).toEqual([8080, "default"]);
  expect(portFrom({ files })).toEqual([1, "/cwd/svc.toml"]);
  expect(portFrom({ files, env })).toEqual([2, "SVC_HTTP_PORT"]);
  expect(portFrom({ files, env, flags: { port: "3" } })).toEqual([3, "--port"]);
  expect(portFrom({ files, env, flags: { port: "3", set: ["http.port=4"] } })).toEqual([4, "--set"]);
  const { config } = load({ files, env, flags: { port: "3" } });
  expect([config.http.max_ids, config.log.level, config.http.host]).toEqual([11, "error", "127.0.0.1"]);
});

test("the settings file is the first of --config, SVC_CONFIG_FILE, ./svc.toml, /etc/svc/svc.toml, and only that one", () => {
  const portIn = (port: number) => `[http]\nport = ${port}`;
  const files = {
    "/cwd/flag.toml": portIn(1),
    "/elsewhere/env.toml": portIn(2),
    "/cwd/svc.toml": portIn(3),
    "/etc/svc/svc.toml": `${portIn(4)}\nmax_ids = 44`,
  };
  const env = { SVC_CONFIG_FILE: "/elsewhere/env.toml" };
  const { "/cwd/svc.toml": _, ...withoutLocal } = files;
  const portAndFile = (sources: Parameters<typeof load>[0]) => {
    const { config, file } = load(sources);
    return [config.http.port, config.http.max_ids, file];
  };
  expect(portAndFile({ files, env, flags: { config: "flag.toml" } })).toEqual([1, 350, "/cwd/flag.toml"]);
  expect(portAndFile({ files, env })).toEqual([2, 350, "/elsewhere/env.toml"]);
  expect(portAndFile({ files })).toEqual([3, 350, "/cwd/svc.toml"]);
  expect(portAndFile({ files: withoutLocal })).toEqual([4, 44, "/etc/svc/svc.toml"]);
});

test("a named settings file that is missing, and a found one that cannot be read, stop the start", () => {
  expect(problemsOf({ flags: { config: "gone.toml" } })).toEqual([
    { key: "settings file", source: "--config", message: "/cwd/gone.toml does not exist" },
  ]);
  expect(problemsOf({ env: { SVC_CONFIG_FILE: "/gone.toml" } })).toMatchObject([
    { source: "SVC_CONFIG_FILE" },
  ]);
  expect(problemsOf({ files: { "/cwd/svc.toml": new Error("EACCES") } })).toEqual([
    { key: "/cwd/svc.toml", source: "settings file", message: "cannot be read: EACCES" },
  ]);
});

test("broken TOML names the file and the line, and the other sources are still checked", () => {
  const problems = problemsOf({
    files: { "/cwd/svc.toml": "[http]\n\nhost = 'x'\nport = = 1\n\n[log]\n" },
    env: { SVC_HTTP_PORT: "x" },
  });
  expect(problems).toMatchObject([
    { key: "/cwd/svc.toml", source: "line 4" },
    { key: "http.port", source: "SVC_HTTP_PORT" },
  ]);
});

test("lists in the environment, in flags and in files are comma-separated or written as in TOML", () => {
  const listOf = (text: string) => load({ env: { SVC_NET_ALLOW_CIDRS: text } }).config.net.allow_cidrs;
  expect(listOf("10.0.0.0/8, fd00::/8,,")).toEqual(["10.0.0.0/8", "fd00::/8"]);
  expect(listOf("")).toEqual([]);
  expect(listOf(` ["10.0.0.0/8", 'fd00::/8',] `)).toEqual(["10.0.0.0/8", "fd00::/8"]);
  expect(listOf("[]")).toEqual([]);
  expect(load({ flags: { set: ["upstream.fids=[1, 2]"] } }).config.upstream.fids).toEqual([1, 2]);
  expect(load({ flags: { set: ["upstream.fids=1,2"] } }).config.upstream.fids).toEqual([1, 2]);
  expect(problemsOf({ flags: { set: ["upstream.fids=[1, 2"] } })).toMatchObject([{ key: "upstream.fids" }]);
  expect(problemsOf({ flags: { set: ['upstream.fids=["1"]'] } })).toMatchObject([{ key: "upstream.fids" }]);
  const { config } = load({ flags: { set: ["http.cors_origins=https://a.example,https://b.example:8443"] } });
  expect(config.http.cors_origins).toEqual(["https://a.example", "https://b.example:8443"]);
});

test("every setting can be given as SVC_<SECTION>_<KEY> and as --set, and by a file in each source", () => {
  const texts: Record<string, string> = { "data.dir": "/d", "http.port": "9", "hub.admin": "true" };
  for (const setting of settings) {
    const current = settingValue(load().config, setting);
    const text = texts[setting.key] ?? (Array.isArray(current) ? current.join(",") : String(current));
    const variable = `SVC_${setting.section}_${setting.name}`.toUpperCase();
    const viaEnv = load({ env: { [variable]: text } });
    const viaFile = load({ env: { [`${variable}_FILE`]: "secret" }, files: { "/cwd/secret": `${text}\n` } });
    const viaSet = load({ flags: { set: [`${setting.key}=${text}`] } });
    const files = {
      "/cwd/svc.toml": `[${setting.section}]\n${setting.name}_file = "s"`,
      "/cwd/s": `${text}\n`,
    };
    const viaToml = load({ files });
    const viaSetFile = load({ flags: { set: [`${setting.key}_file=s`] }, files: { "/cwd/s": text } });
    const ways = [viaEnv, viaFile, viaSet, viaToml, viaSetFile];
    expect(ways.map(({ sources }) => sources.get(setting.key))).toEqual([
      variable,
      `file of ${variable}_FILE`,
      "--set",
      `file of ${setting.key}_file`,
      `file of ${setting.key}_file`,
    ]);
    const [first, ...others] = ways.map(({ config }) => settingValue(config, setting));
    for (const other of others) expect(other).toEqual(first);
  }
});

test("a value read through _FILE loses its one trailing newline and nothing else", () => {
  const dirFrom = (text: string) =>
    load({ env: { SVC_DATA_DIR_FILE: "/run/dir" }, files: { "/run/dir": text } }).config.data.dir;
  expect(dirFrom("/srv/a b \n")).toBe("/srv/a b ");
  expect(dirFrom("/srv/x\r\n")).toBe("/srv/x");
  expect(dirFrom("/srv/x")).toBe("/srv/x");
});

test("_FILE of a missing file, and a value given with and without _FILE, are refused", () => {
  expect(problemsOf({ env: { SVC_HTTP_PORT_FILE: "/gone" } })).toEqual([
    {
      key: "http.port",
      section: "http",
      source: "file of SVC_HTTP_PORT_FILE",
      message: "/gone cannot be read: the file does not exist",
    },
  ]);
  const both = { SVC_HTTP_PORT: "1", SVC_HTTP_PORT_FILE: "/port" };
  expect(problemsOf({ env: both, files: { "/port": "1" } })).toMatchObject([{ key: "http.port" }]);
  const inToml = { "/cwd/svc.toml": "[http]\nport = 1\nport_file = '/port'", "/port": "1" };
  expect(problemsOf({ files: inToml })).toMatchObject([{ key: "http.port" }]);
  expect(problemsOf({ files: { "/cwd/svc.toml": "[http]\nport_file = 1" } })).toMatchObject([
    { key: "http.port", message: "must be the path of a file" },
  ]);
});

test("a misspelt variable of a known section is refused, with the one that was meant or the keys of the section", () => {
  const problems = problemsOf({
    env: { SVC_HTTP_PROT: "1", SVC_LOG_LEVELS: "info", SVC_WEBHOOKS_RETRY: "3" },
  });
  expect(problems.map(({ key }) => key)).toEqual(["SVC_HTTP_PROT", "SVC_LOG_LEVELS", "SVC_WEBHOOKS_RETRY"]);
  expect(problems.map(({ message }) => message)).toEqual([
    "is not a setting: did you mean SVC_HTTP_PORT?",
    "is not a setting: did you mean SVC_LOG_LEVEL?",
    expect.stringContaining("is not a setting; [webhooks] has max_webhooks_per_owner, "),
  ]);
});

test("a variable of an unknown section is a warning that names the setting that was meant", () => {
  const env = { SVC_HTP_PORT: "1", SVC_STAT_PASSWORD_FILE: "/p", SVC_PORT: "1", SVC_CUSTODY_KEY: "0x2" };
  const { config, warnings } = load({ env });
  expect(config).toEqual(load().config);
  expect(warnings).toEqual([
    "SVC_HTP_PORT is not a setting and has no effect: did you mean SVC_HTTP_PORT?",
    "SVC_STAT_PASSWORD_FILE is not a setting and has no effect: did you mean SVC_STATE_PASSWORD_FILE?",
    "SVC_PORT is not a setting and has no effect: did you mean SVC_HTTP_PORT or SVC_HUB_PORT?",
    "SVC_CUSTODY_KEY is not a setting and has no effect",
  ]);
  expect(load({ env }, "client").warnings).toEqual(warnings.slice(0, 3));
});

test("variables with another purpose are ignored without a warning", () => {
  const env = {
    SVC_KEY: "0x1",
    SVC_CONFIG_FILE: "",
    SVC_TEST_LONG: "1",
    SVC_DOWNLOAD_URL: "https://example.com",
    SVC_SERVICE_HOST: "10.0.0.1",
    SVC_SERVICE_PORT: "80",
    SVC_SERVICE_PORT_HTTP: "80",
    SVC_PORT: "tcp://10.0.0.1:80",
    SVC_PORT_80_TCP: "tcp://10.0.0.1:80",
    SVC_PORT_80_TCP_ADDR: "10.0.0.1",
    SVC_METRICS_SERVICE_HOST: "10.0.0.1",
    HTTP_PORT: "1",
    svc_http_port: "1",
  };
  const { config, warnings } = load({ env });
  expect({ config, warnings }).toEqual({ config: load().config, warnings: [] });
});

test("an unknown section or key of a file is refused by name, also one that every object has", () => {
  const text =
    "top = 1\n[htttp]\nport = 1\n[http]\nprot = 1\nconstructor = 1\n__proto__ = 1\n[http.port]\nx = 1";
  const problems = problemsOf({ files: { "/cwd/svc.toml": text } });
  expect(problems.map(({ key }) => key)).toEqual([
    "top",
    "htttp",
    "http.prot",
    "http.constructor",
    "http.__proto__",
    "http.port",
  ]);
  expect(problems.every(({ source }) => source === "/cwd/svc.toml")).toBe(true);
  expect(problems.find(({ key }) => key === "htttp")?.message).toBe("is not a section: did you mean [http]?");
  expect(problemsOf({ files: { "/cwd/svc.toml": "http = 1\n[[log]]\nlevel = 'info'" } })).toMatchObject([
    { key: "http" },
    { key: "log" },
  ]);
});

test("a flag that names no setting, and a --set that assigns nothing, are refused", () => {
  const set = [
    "http.prot=1",
    "htp.port=1",
    "port=1",
    "nothing.at=all",
    "http.port",
    "=1",
    "state.password:s3cret",
  ];
  const problems = problemsOf({ flags: { set } });
  const form = "must be section.key=value, such as --set http.port=8081";
  expect(problems.map(({ key, message }) => [key, message])).toEqual([
    ["http.prot", "is not a setting: did you mean http.port?"],
    ["htp.port", "is not a setting: did you mean http.port?"],
    ["port", "is not a setting: did you mean http.port or hub.port?"],
    ["nothing.at", expect.stringContaining("is not a setting; the sections are service, node, ")],
    ["--set http.port", form],
    ["--set …", form],
    ["--set state.password…", form],
  ]);
});
