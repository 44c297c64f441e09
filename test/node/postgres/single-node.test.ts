import { expect, test } from "bun:test";
import { compiledProgram } from "../../support/compiled-program.ts";
import { startNode, tempDir } from "../../support/program.ts";

test("a node without state.url connects to no PostgreSQL, whatever the environment names", async () => {
  let connections = 0;
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        connections += 1;
        socket.end();
      },
      data() {},
    },
  });
  const [host, port] = ["127.0.0.1", String(listener.port)];
  const url = `postgres://svc@${host}:${port}/svc`;
  const env = { DATABASE_URL: url, POSTGRES_URL: url, PGHOST: host, PGPORT: port };
  using dir = tempDir();
  {
    await using node = await startNode({ command: compiledProgram, dataDir: dir.path, env });
    expect((await fetch(`${node.url}/ready?for=state`)).status).toBe(200);
    expect(await node.stop()).toBe(0);
  }
  listener.stop(true);
  expect(connections).toBe(0);
});
