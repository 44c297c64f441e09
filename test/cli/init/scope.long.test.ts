import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { type Asked, type AskOptions, askUpstream } from "../../../src/cli/init/ask-upstream.ts";
import type { Choice } from "../../../src/cli/init/choice.ts";
import { RetryableError, UserError } from "../../../src/lib/failure.ts";
import { GetInfoResponse } from "../../../src/protocol/wire/generated/hub.ts";
import { FarcasterNetwork, MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { FidsResponse } from "../../../src/protocol/wire/generated/state.ts";
import { FollowedMessages } from "../../../src/protocol/wire/generated/upstream.ts";
import { OWN_LOOPBACK } from "../../support/addresses.ts";
import { IS_LONG } from "../../support/long.ts";
import { signMessage } from "../../support/messages.ts";
import { accountSigner } from "../../support/node.ts";
import { linkMessage } from "../../support/social.ts";
import { makeChain } from "../../support/upstream/chain.ts";
import { dataOf } from "../../support/upstream/hub-events.ts";
import { UpstreamNode } from "../../support/upstream/node.ts";
import { UpstreamServer } from "../../support/upstream/server.ts";

/** Which fids a choice means, as the followed node says: a node with several shards, and hostile ones. */

const TICKS = 70;
const node = new UpstreamNode(makeChain("scope f", TICKS));
const server = new UpstreamServer(node);

beforeAll(async () => {
  node.produce(TICKS);
  await server.start();
});
afterAll(() => server.stop());

async function ask(url: string, choice: Choice, more: Partial<AskOptions> = {}): Promise<Asked> {
  return await askUpstream({
    concurrency: 32,
    url,
    choice,
    named: undefined,
    networkName: "mainnet",
    wantsEstimate: false,
    onProgress: () => undefined,
    ...more,
  });
}

const messages = () => {
  const fids = new Set(node.states.flatMap((state) => state.onChainEvents()).map(({ fid }) => fid));
  return node.states.flatMap((state) => [...fids].flatMap((fid) => state.messagesOf(fid)));
};
const ascending = (fids: Iterable<number>) => [...new Set(fids)].sort((a, b) => a - b);

describe("a scope of the followed node", () => {
  test.each([1, 1000])(
    "has all followers of an fid over all shards, and the fid, with pages of %d whose token starts ended shards again",
    async (pageSize) => {
      node.mostPerPage = pageSize;
      const { resolved } = await ask(server.url, { kind: "followers", fid: 3 });
      const followers = messages().flatMap(({ message, fid, type }) => {
        const { body } = dataOf(message);
        const target =
          body?.$case === "linkBody" && body.value.type === "follow" ? body.value.target?.value : 0;
        return type === MessageType.MESSAGE_TYPE_LINK_ADD && target === 3 ? [fid] : [];
      });
      expect(followers.length).toBeGreaterThan(1);
      expect(resolved?.fids).toEqual(ascending([3, ...followers]));
      expect(resolved?.origin).toBe(
        `Fid 3 and its ${ascending(followers).filter((fid) => fid !== 3).length} followers`,
      );
    },
  );

  test("has all authors of a channel, by its name or its URL, and the estimate is of them", async () => {
    const url = "https://farcaster.xyz/~/channel/c2";
    const authors = messages().flatMap(({ message, fid }) => {
      const { body } = dataOf(message);
      const parent = body?.$case === "castAddBody" ? body.value.parent?.value : undefined;
      return parent === url ? [fid] : [];
    });
    expect(authors.length).toBeGreaterThan(1);
    const byName = await ask(server.url, { kind: "channel", channel: "c2" }, { wantsEstimate: true });
    expect(byName.resolved?.fids).toEqual(ascending(authors));
    expect(byName.estimate?.fids).toBe(new Set(authors).size);
    const byUrl = await ask(server.url, { kind: "channel", channel: url });
    expect(byUrl.resolved?.fids).toEqual(ascending(authors));
  });

  test("without any fid is refused", async () => {
    await expect(ask(server.url, { kind: "channel", channel: "nobody" })).rejects.toThrow(
      "has no cast in the channel",
    );
    await expect(ask(server.url, { kind: "followers", fid: 999 })).rejects.toThrow("no user follows fid 999");
  });
});

type Reply = (respond: (bytes: Uint8Array) => void, calls: number) => void;

/** A node that looks followable by GetInfo, and responds to lists as it likes. */
async function hostile(
  lists: Reply,
): Promise<AsyncDisposable & { readonly url: string; readonly calls: () => number }> {
  let calls = 0;
  const method = (name: string, reply: Reply) => ({
    path: `/HubService/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => bytes,
    responseSerialize: (bytes: Uint8Array) => Buffer.from(bytes),
    responseDeserialize: (bytes: Buffer) => bytes,
    reply,
  });
  const info = GetInfoResponse.encode(
    GetInfoResponse.fromPartial({ numShards: 1, shardInfos: [{ shardId: 1, numFidRegistrations: 2 }] }),
  ).finish();
  const fids = FidsResponse.encode({ fids: [1, 2], nextPageToken: undefined }).finish();
  const empty = new Uint8Array();
  const names = ["Cast", "Reaction", "Link", "Verification", "UserData", "LendStorage"];
  const methods = {
    getInfo: method("GetInfo", (respond) => respond(info)),
    getFids: method("GetFids", (respond) => respond(fids)),
    getOnChainEvents: method("GetOnChainEvents", (respond) => respond(empty)),
    getLinksByTarget: method("GetLinksByTarget", lists),
    getCastsByParent: method("GetCastsByParent", lists),
    getCompact: method("GetLinkCompactStateMessageByFid", (respond) => respond(empty)),
    ...Object.fromEntries(names.map((name) => [name, method(`GetAll${name}MessagesByFid`, lists)])),
  };
  const grpc = new Server();
  grpc.addService(
    methods,
    Object.fromEntries(
      Object.entries(methods).map(([name, { reply }]) => [
        name,
        (_call: unknown, done: (fault: null, bytes: Uint8Array) => void) =>
          reply((bytes) => done(null, bytes), calls++),
      ]),
    ),
  );
  const port = await new Promise<number>((resolve) => {
    grpc.bindAsync(`${OWN_LOOPBACK}:0`, ServerCredentials.createInsecure(), (_, bound) => resolve(bound));
  });
  return {
    url: `http://${OWN_LOOPBACK}:${port}`,
    calls: () => calls,
    [Symbol.asyncDispose]: async () => grpc.forceShutdown(),
  };
}

const page = (listed: readonly Uint8Array[], token: string) =>
  FollowedMessages.encode({ messages: [...listed], nextPageToken: Buffer.from(token) }).finish();

describe("a hostile followed node", () => {
  const choices: readonly Choice[] = [
    { kind: "followers", fid: 3 },
    { kind: "channel", channel: "bread" },
  ];
  const limits = { maxPages: 30, maxFids: 50 };

  test("with more followers than a file of fids holds is refused as soon as that is known", async () => {
    await using peer = await hostile((respond, calls) =>
      respond(
        page(
          Array.from({ length: 20 }, (_, at) => linkMessage(1 + calls * 20 + at, "follow", 3)),
          `t${calls}`,
        ),
      ),
    );
    const refused = ask(peer.url, { kind: "followers", fid: 3 }, { limits });
    await expect(refused).rejects.toThrow("fid 3 has more followers than a list of fids can hold (50)");
    expect(peer.calls()).toBeLessThan(10);
  });

  test.each(choices)("whose pages never end is abandoned: $kind", async (choice) => {
    const stranger = linkMessage(9, "follow", 4);
    await using peer = await hostile((respond, calls) => respond(page([stranger], `t${calls}`)));
    await expect(ask(peer.url, choice, { limits })).rejects.toThrow(UserError);
    expect(peer.calls()).toBeLessThan(4 * limits.maxPages);
  });

  test.each(choices)(
    "that responds too slowly is abandoned after the time for everything: $kind",
    async (choice) => {
      await using peer = await hostile((respond, calls) => setTimeout(respond, 20, page([], `t${calls}`)));
      const timeouts = { callMs: 5000, allMs: 200 };
      const left = ask(peer.url, choice, { timeouts });
      await expect(left).rejects.toThrow(RetryableError);
      await expect(left).rejects.toThrow("did not respond to everything within 0.2 s");
    },
  );

  test("that accepts and says nothing may respond later, so a retry may work", async () => {
    using silent = Bun.listen({ hostname: OWN_LOOPBACK, port: 0, socket: { data: () => undefined } });
    const url = `http://${OWN_LOOPBACK}:${silent.port}`;
    const left = ask(url, { kind: "all" }, { timeouts: { callMs: 100, allMs: 5000 } });
    await expect(left).rejects.toThrow(RetryableError);
    await expect(left).rejects.toThrow(
      `the upstream ${url} cannot be queried: it does not respond (GetInfo timed out)`,
    );
  });

  test("of another network is refused, by the messages of a list and by those of the sample", async () => {
    const link = { type: "follow", target: { $case: "targetFid" as const, value: 3 } };
    const foreign = signMessage(
      {
        type: MessageType.MESSAGE_TYPE_LINK_ADD,
        fid: 7,
        network: FarcasterNetwork.FARCASTER_NETWORK_TESTNET,
        body: { $case: "linkBody", value: link },
      },
      accountSigner(7),
    );
    await using peer = await hostile((respond) => respond(page([foreign], "")));
    const reason = "its messages are of testnet, and protocol.network is mainnet";
    await expect(ask(peer.url, { kind: "followers", fid: 3 })).rejects.toThrow(reason);
    await expect(ask(peer.url, { kind: "all" }, { wantsEstimate: true })).rejects.toThrow(reason);
  });

  test("cannot add fids whose messages say something else", async () => {
    const listed = [
      linkMessage(5, "follow", 3),
      linkMessage(6, "follow", 4),
      linkMessage(7, "block", 3),
      linkMessage(8, "follow", 3, { remove: true }),
      Uint8Array.of(1, 2, 3),
    ];
    await using peer = await hostile((respond) => respond(page(listed, "")));
    const { resolved } = await ask(peer.url, { kind: "followers", fid: 3 });
    expect(resolved?.fids).toEqual([3, 5]);
  });

  test.skipIf(!IS_LONG)(
    "whose messages of an fid do not end gives an estimate no more than an error",
    async () => {
      const message = linkMessage(1, "follow", 2);
      const full = Array.from({ length: 1000 }, () => message);
      await using peer = await hostile((respond, calls) => respond(page(full, `t${calls}`)));
      const { estimate } = await ask(peer.url, { kind: "all" }, { wantsEstimate: true });
      expect(estimate?.sampledMessages).toBeLessThan(500_000);
    },
  );
});
