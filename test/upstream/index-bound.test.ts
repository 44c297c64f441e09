import { expect, setDefaultTimeout, test } from "bun:test";
import { MessageType } from "../../src/protocol/wire/generated/message.ts";
import { Scene, said } from "../support/upstream/scene.ts";

// Longer than a scene waits for a follower without progress, so that the scene reports the reason.
setDefaultTimeout(60_000);

const cast = (fid: number, text: string) =>
  said(fid, { type: MessageType.MESSAGE_TYPE_CAST_ADD, body: { $case: "castAddBody", value: { text } } });

const callsOf = (scene: Scene) => [...scene.calls.values()].reduce((sum, count) => sum + count, 0);

/** Waits while the index stays full; fails if the upstream is called meanwhile. */
async function expectQuiet(scene: Scene): Promise<void> {
  const { index } = scene;
  // The calls of the stage that ends are on their way.
  const asked = index.roomAsked;
  await index.eventually(() => index.roomAsked >= asked + 5);
  const calls = callsOf(scene);
  const { commits } = index;
  await index.eventually(() => index.roomAsked >= asked + 25);
  expect(callsOf(scene)).toBe(calls);
  expect(index.commits).toBe(commits);
  expect(index.progress.lastFault).toContain("index.max_bytes");
}

test("at the bound a follower makes no calls, and continues without a gap when there is room", async () => {
  await using scene = new Scene();
  scene.join(1, 2, 3);
  await scene.follow();
  await scene.settle();
  scene.index.isFull = true;
  for (const fid of [1, 2, 3]) scene.happens(cast(fid, "at the bound"));
  await expectQuiet(scene);
  scene.happens(cast(1, "later"));
  scene.index.isFull = false;
  await scene.index.caughtUp();
  expect(scene.chain.dumpOf(scene.index.db)).toBe(scene.chain.referenceDump);
});

test("a fill that reaches the bound continues after a restart with room, and so does one that was full at its start", async () => {
  await using scene = new Scene();
  scene.join(1, 2, 3, 4, 5);
  for (let n = 0; n < 20; n++) scene.happens(cast(1 + (n % 5), `cast ${n}`));
  const reached = Promise.withResolvers<void>();
  scene.faults.call = (method) => {
    if (method !== "GetAllCastMessagesByFid") return undefined;
    scene.index.isFull = true;
    reached.resolve();
    return undefined;
  };
  const following = scene.follow();
  await reached.promise;
  scene.faults.call = () => undefined;
  await expectQuiet(scene);
  await scene.index.stop();
  scene.index.start();
  await expectQuiet(scene);
  scene.index.isFull = false;
  await following;
  expect(scene.chain.dumpOf(scene.index.db)).toBe(scene.chain.referenceDump);
});
