import { expect, test } from "bun:test";
import { connect } from "node:net";
import { createAdmission } from "../../../src/admission/admission.ts";
import { startTestHub } from "../../support/hub.ts";
import { frame, opening } from "../../support/hub-clients/raw-http2.ts";
import { temporaryIndex } from "../../support/temporary-index.ts";

const PINGS = Buffer.concat(Array<Buffer>(10_000).fill(frame("ping", 0, 0, Buffer.alloc(8))));
/** What has been read already may still be answered. */
const MAX_HELD_BYTES = 2 * 1024 * 1024;

test("a client that sends frames without end and reads no response is not read either, and loses the connection", async () => {
  using index = temporaryIndex();
  const { budgets } = createAdmission();
  await using hub = await startTestHub(index.path, {
    deps: { budgets },
    receiveLimits: { requestBytes: () => 1024, receiveTimeoutMs: 30_000, respondTimeoutMs: 1_000 },
  });
  const [host = "", port = ""] = hub.address.split(":");
  const socket = connect({ host, port: Number(port) });
  socket.on("error", () => undefined);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.pause();
  socket.write(opening());
  const held: number[] = [];
  while (!socket.destroyed) {
    if (socket.writableLength < PINGS.length) socket.write(PINGS);
    held.push(budgets.hubResponses.use().held);
    await Bun.sleep(1);
  }
  await closed;
  expect(Math.max(...held)).toBeWithin(1, MAX_HELD_BYTES);
  while (budgets.hubResponses.use().held > 0) await Bun.sleep(1);
});
