import { expect, test } from "bun:test";
import type { ChannelView } from "../../../src/protocol/channels/authority.ts";
import { MemberState } from "../../../src/protocol/channels/slots.ts";
import { ChannelUpdateBody, MembershipMode } from "../../../src/protocol/wire/generated/message.ts";
import type { ChannelAct, Composed } from "../../../src/writes/compose/channel-act.ts";
import { composeInvite, composeInviteResponse } from "../../../src/writes/compose/channel-members.ts";
import { composePin, composeSettings } from "../../../src/writes/compose/channel-settings.ts";

const [OWNER, STRANGER] = [1, 2] as const;
const channelId = new Uint8Array(32).fill(1);

const view: ChannelView = {
  isRegistered: true,
  ownerFid: OWNER,
  membershipMode: MembershipMode.MEMBERSHIP_MODE_APPROVAL,
  moderators: 0,
  memberSlots: 0,
  moderationSlots: 0,
  memberState: () => MemberState.None,
  hasSlot: () => false,
};

const act = (fields: Readonly<Record<string, unknown>>, over: Partial<ChannelAct> = {}): ChannelAct => ({
  lookups: {
    areActive: true,
    channelIdOf: (name) => (name === "books" ? channelId : undefined),
    viewOf: () => view,
    settingsOf: () => ({ settings: ChannelUpdateBody.fromPartial({ channelId, name: "Books" }), basis: 7 }),
  },
  fields: { channel_id: "books", ...fields },
  fid: OWNER,
  isStale: false,
  ...over,
});

const kindOf = (composed: Composed) => (composed.ok ? "ok" : composed.error.kind);

test("settings have what is stored and what is given, and the decision that they were made from", () => {
  const composed = composeSettings(act({ rules: "Be kind" }));
  expect(composed).toMatchObject({
    ok: true,
    value: [{ basis: 7, body: { value: { channelId, name: "Books", rules: "Be kind" } } }],
  });
});

test("an image is a web URL, an empty text or none", () => {
  for (const image_url of ["https://example.com/a.png", "http://example.com/ä", "", null])
    expect(kindOf(composeSettings(act({ image_url })))).toBe("ok");
});

test("while the index is behind, no settings are made from it, and roles are left to the network", () => {
  expect(kindOf(composeSettings(act({ rules: "Be kind" }, { isStale: true })))).toBe("unavailable");
  const invite = { fid: 3, role: "member" };
  expect(kindOf(composeInvite(act(invite, { fid: STRANGER })))).toBe("forbidden");
  expect(kindOf(composeInvite(act(invite, { fid: STRANGER, isStale: true })))).toBe("ok");
});

test.each([
  ["fid 0", { fid: 0, role: "member" }, composeInvite],
  ["the role of an owner", { fid: 3, role: "owner" }, composeInvite],
  ["no role", { fid: 3 }, composeInvite],
  ["accept that is a text", { role: "member", accept: "yes" }, composeInviteResponse],
  ["an empty name", { role: "member", accept: true, channel_id: "" }, composeInviteResponse],
  [
    "a name that is too long",
    { role: "member", accept: true, channel_id: "x".repeat(1_025) },
    composeInviteResponse,
  ],
  ["a short hash", { cast_hash: "0x12" }, (one: ChannelAct) => composePin(one, true)],
  ["no setting", {}, composeSettings],
  ["an image that is not a URL", { image_url: "a.png" }, composeSettings],
  ["an image of another scheme", { image_url: "javascript:alert(1)" }, composeSettings],
  ["a lone surrogate", { name: "\ud800" }, composeSettings],
  ["settings that are too long", { rules: "x".repeat(2_000) }, composeSettings],
] as const)("%s is a bad request", (_, fields, compose) => {
  expect(kindOf(compose(act(fields)))).toBe("badRequest");
});

test("an unknown channel is not found, and one of a network without channels is not implemented", () => {
  const fields = { fid: 3, role: "member" };
  expect(kindOf(composeInvite(act({ ...fields, channel_id: "gravel" })))).toBe("notFound");
  const { lookups } = act(fields);
  expect(kindOf(composeInvite(act(fields, { lookups: { ...lookups, areActive: false } })))).toBe(
    "notImplemented",
  );
});
