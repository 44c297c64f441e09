const NAMES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/** Runs `body` while every proxy variable of the environment is set to `proxy`, without exceptions. */
export async function withProxy(proxy: string, body: () => Promise<void>): Promise<void> {
  const before = [...NAMES, "NO_PROXY", "no_proxy"].map((name) => [name, process.env[name]] as const);
  for (const name of NAMES) process.env[name] = proxy;
  delete process.env.NO_PROXY;
  delete process.env.no_proxy;
  try {
    await body();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
