import { expect, test } from "bun:test";
import fc from "fast-check";
import { followedChannelOf, followUriOf, registrarOf } from "../../../src/protocol/channels/follow-uri.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";

const { FARCASTER_NETWORK_DEVNET: DEVNET, FARCASTER_NETWORK_MAINNET: MAINNET } = FarcasterNetwork;
const anyId = fc.uint8Array({ minLength: 32, maxLength: 32 });

test("the URI of a channel names that channel and no other", () => {
  fc.assert(
    fc.property(anyId, (channelId) => {
      const uri = followUriOf(registrarOf(DEVNET), channelId) ?? "";
      expect(followedChannelOf(registrarOf(DEVNET), uri)?.toHex()).toBe(channelId.toHex());
    }),
  );
});

test("check 18: another spelling of a URI is not a follow", () => {
  const uri = followUriOf(registrarOf(DEVNET), new Uint8Array(32).fill(1)) ?? "";
  const [, , , , token = ""] = /^(.*)(:)(.*)(\/)(\d+)$/.exec(uri)?.slice(1) ?? [];
  const others = [
    uri.toLowerCase(),
    uri.replace("eip155", "EIP155"),
    uri.replace("11155111", "1"),
    uri.replace("11155111", "011155111"),
    uri.replace("/erc721", "//erc721"),
    uri.replace(/\d+$/, (digits) => `0${digits}`),
    uri.replace(/\d+$/, (digits) => `+${digits}`),
    uri.replace(/\d+$/, String(2n ** 256n)),
    uri.replace(/\d+$/, "9".repeat(79)),
    `${uri}/`,
    `${uri} `,
    uri.replace(`/${token}`, ""),
  ];
  for (const other of others)
    expect([other, followedChannelOf(registrarOf(DEVNET), other)]).toEqual([other, undefined]);
});

test("check 33: a network without a registrar has no follows", () => {
  expect(followUriOf(registrarOf(MAINNET), new Uint8Array(32))).toBeUndefined();
  expect(
    followedChannelOf(registrarOf(MAINNET), followUriOf(registrarOf(DEVNET), new Uint8Array(32)) ?? ""),
  ).toBeUndefined();
});
