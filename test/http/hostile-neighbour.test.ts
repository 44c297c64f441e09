import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { Elysia } from "elysia";
import { runHttp } from "../support/http.ts";

const NEIGHBOUR = "203.0.113.66";
const OWN = "203.0.113.7";
const CONNECTIONS = 48;
const READS = 20;

/** Takes CPU time of this thread. */
function burn(ms: number): void {
  const endsMs = performance.now() + ms;
  while (performance.now() < endsMs) Math.random();
}

/**
 * The tenth of `bench neighbour` for reads. The neighbour's shares of other surfaces are counted beside them: bodies and slow uploads in
 * body-budget.test.ts, signed operations in auth/signed-shares.test.ts, lists and unread responses in hub/reads/slow-clients.test.ts.
 */
test("next to a neighbour with many costly reads in flight, each read waits for a few of them and not for all", async () => {
  const handled: string[] = [];
  const routes = new Elysia().get("/cost", ({ request }) => {
    const client = request.headers.get("x-forwarded-for") ?? "";
    burn(client === NEIGHBOUR ? 2 : 0.1);
    handled.push(client);
    return {};
  });
  await using http = runHttp({
    plugins: [routes],
    http: { trusted_proxies: ["127.0.0.0/8"] },
    logLevel: "silent",
  });
  const head = (client: string) =>
    `GET /v2/svc/cost HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${client}\r\n\r\n`;
  const open = async (onResponse: (socket: Socket) => void) => {
    const socket = connect(http.port, "127.0.0.1");
    await new Promise((resolve) => socket.once("connect", resolve));
    socket.on("data", () => onResponse(socket));
    return socket;
  };
  let isHostile = true;
  const hostile = await Promise.all(
    Array.from({ length: CONNECTIONS }, () =>
      open((socket) => {
        if (isHostile) socket.write(head(NEIGHBOUR));
      }),
    ),
  );
  for (const socket of hostile) socket.write(head(NEIGHBOUR));

  let answered = Promise.withResolvers<void>();
  const own = await open(() => answered.resolve());
  const before: number[] = [];
  for (let n = 0; n < READS; n += 1) {
    answered = Promise.withResolvers();
    const sentAt = handled.length;
    own.write(head(OWN));
    await answered.promise;
    before.push(handled.slice(sentAt, handled.indexOf(OWN, sentAt)).length);
  }
  isHostile = false;
  for (const socket of [...hostile, own]) socket.destroy();
  // Without an order each read waits for all that are ready, most of 48.
  const typical = before.toSorted((a, b) => a - b)[READS / 2] ?? Number.NaN;
  expect(typical).toBeLessThanOrEqual(6);
  expect(handled.filter((client) => client === NEIGHBOUR).length).toBeGreaterThan(READS);
});
