import { describe, expect, test } from "bun:test";
import { pgStatement } from "../../../src/db/postgres/statement.ts";
import { StateUnavailable } from "../../../src/db/state/unavailable.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { HAS_POSTGRES, startPostgres } from "../../support/postgres/server.ts";

const ask = pgStatement<{ one: number }>("test.ask", "SELECT 1 AS one");

describe.skipIf(!HAS_POSTGRES)("a pool whose server", () => {
  test("is killed refuses calls at once after its deadline, and works again when the server does", async () => {
    await using server = await startPostgres();
    await using database = await createDatabase({ server, timeoutMs: 700 });
    const { main } = database.pools();
    await main.get(ask);
    await server.kill();
    const startedMs = performance.now();
    await expect(main.get(ask)).rejects.toThrow(StateUnavailable);
    expect(performance.now() - startedMs).toBeLessThan(1_500);
    const refusedMs = performance.now();
    await expect(main.get(ask)).rejects.toThrow(StateUnavailable);
    expect(performance.now() - refusedMs).toBeLessThan(50);
    await server.restart();
    const deadlineMs = performance.now() + 2_000;
    for (;;) {
      const answer = await main.get(ask).catch((cause) => {
        if (!(cause instanceof StateUnavailable)) throw cause;
      });
      if (answer) break;
      expect(performance.now()).toBeLessThan(deadlineMs);
      await Bun.sleep(20);
    }
  });
});
