import { expect, test } from "bun:test";
import { connectFollowedNodes } from "../../src/hub/submit/followed-nodes.ts";
import type { EndpointState, EndpointStatus } from "../../src/upstream/peers/endpoints/endpoint-status.ts";

const URLS = ["http://127.0.0.1:1", "http://127.0.0.1:2", "http://127.0.0.1:3"];

/** The nodes as the follower finds them; the followed one is active. */
async function nodesOf(states: readonly EndpointState[], followed = 0) {
  const asked = Promise.withResolvers<void>();
  const nodes = connectFollowedNodes({
    urls: URLS.slice(0, states.length),
    contact: "",
    states: async () => {
      queueMicrotask(() => queueMicrotask(asked.resolve));
      return states.map(
        (state, index): EndpointStatus => ({
          isDiscovered: false,
          position: index + 1,
          state,
          isActive: index === followed,
          lagBlocks: 0,
          latencyMs: 1,
          reason: undefined,
        }),
      );
    },
  });
  if (states.length > 1) await asked.promise;
  const portOf = (client: { getChannel(): { getTarget(): string } }) =>
    Number(/:(\d+)$/.exec(client.getChannel().getTarget())?.[1]);
  const { client, isFirst } = nodes.first();
  const found = { submits: portOf(client), hasLogin: isFirst, blocks: portOf(nodes.active()) };
  nodes.close();
  return found;
}

test("submits go to the first node of the settings that is well, and only the first one may get the credentials", async () => {
  expect(await nodesOf(["ok", "ok", "ok"], 2)).toEqual({ submits: 1, hasLogin: true, blocks: 3 });
  expect(await nodesOf(["refused", "ok", "ok"], 2)).toEqual({ submits: 2, hasLogin: false, blocks: 3 });
  expect(await nodesOf(["failing", "lagging", "ok"], 2)).toEqual({ submits: 3, hasLogin: false, blocks: 3 });
  expect(await nodesOf(["failing", "lagging", "partial"], 1)).toEqual({
    submits: 2,
    hasLogin: false,
    blocks: 2,
  });
});

test("without one that is well, and for a single node, it is the first one", async () => {
  expect(await nodesOf(["failing", "refused"], 1)).toEqual({ submits: 1, hasLogin: true, blocks: 2 });
  expect(await nodesOf(["failing"])).toEqual({ submits: 1, hasLogin: true, blocks: 1 });
});
