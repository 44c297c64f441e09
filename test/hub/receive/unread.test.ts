import { expect, test } from "bun:test";
import { connect } from "node:net";
import { createAdmission } from "../../../src/admission/admission.ts";
import { Budget } from "../../../src/admission/budget.ts";
import { BUDGETS } from "../../../src/admission/budgets.ts";
import { startTestHub } from "../../support/hub.ts";
import { frame, opening } from "../../support/hub-clients/raw-http2.ts";
import { temporaryIndex } from "../../support/temporary-index.ts";

const PINGS = Buffer.concat(Array<Buffer>(10_000).fill(frame("ping", 0, 0, Buffer.alloc(8))));
/** What has been read already may still be answered. */
const MAX_HELD_BYTES = 2 * 1024 * 1024;

test.each([
  { unread: BUDGETS.hubResponses, respondTimeoutMs: 1_000 },
  // It loses the connection at once if it may not leave so much unread.
  { unread: { unit: "bytes", total: 64 * 1024, perClient: 64 * 1024 }, respondTimeoutMs: 120_000 },
])(
  "a client that sends frames without end and reads no response is not read either, and loses the connection: %p",
  async ({ unread, respondTimeoutMs }) => {
    using index = temporaryIndex();
    const hubResponses = new Budget(unread);
    await using hub = await startTestHub(index.path, {
      deps: { budgets: { ...createAdmission().budgets, hubResponses } },
      receiveLimits: { requestBytes: () => 1024, receiveTimeoutMs: 30_000, respondTimeoutMs },
    });
    const [host = "", port = ""] = hub.address.split(":");
    const socket = connect({ host, port: Number(port) });
    socket.on("error", () => undefined);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.pause();
    socket.write(opening());
    let mostHeld = 0;
    while (!socket.destroyed) {
      if (socket.writableLength < PINGS.length) socket.write(PINGS);
      mostHeld = Math.max(mostHeld, hubResponses.use().held);
      await Bun.sleep(1);
    }
    await closed;
    expect(mostHeld).toBeLessThan(MAX_HELD_BYTES);
    while (hubResponses.use().held > 0) await Bun.sleep(1);
  },
);
