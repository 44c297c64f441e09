/**
 * Clients of the protocol, each on a separate port, that accept every notification: `/now` responds at once, `/in/<ms>`
 * after a delay, `/never` does not respond. Prints the ports. A GET returns the time of the last accepted notification, in
 * milliseconds of the system clock.
 *
 * Usage: push-clients.ts <count> <certificate> <key>
 */
const [count = "", cert = "", key = ""] = process.argv.slice(2);
const tls = { cert: await Bun.file(cert).text(), key: await Bun.file(key).text() };
const ports = Array.from({ length: Number(count) }, () => {
  let lastAt = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    tls,
    async fetch(request) {
      if (request.method === "GET") return Response.json(lastAt);
      const { pathname } = new URL(request.url);
      const { tokens } = (await request.json()) as { tokens: string[] };
      if (pathname === "/never") return new Promise<Response>(() => undefined);
      const delay = /^\/in\/(\d+)$/.exec(pathname)?.[1];
      if (delay) await Bun.sleep(Number(delay));
      lastAt = Date.now();
      return Response.json({
        result: { successfulTokens: tokens, invalidTokens: [], rateLimitedTokens: [] },
      });
    },
  });
  return server.port;
});
process.stdout.write(`${JSON.stringify(ports)}\n`);
