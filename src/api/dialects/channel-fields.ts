import { Type } from "@sinclair/typebox";
import { EthAddress, Fid, nullable, object } from "./fields.ts";

/** Parts of the schemas of channels that are the same in every dialect. */

export const ChannelSource = Type.Union(
  [Type.Literal("protocol"), Type.Literal("import"), Type.Literal("activity")],
  { description: "Where the fields come from: a registration, an imported registry, or casts alone" },
);

export const ChannelId = Type.String({
  pattern: "^0x[0-9a-f]{64}$",
  description: "The id of the protocol: keccak256 of the name under which the channel is registered",
});

export const ChannelOwner = object(
  {
    address: EthAddress,
    fid: nullable(Fid),
    state: Type.Union([Type.Literal("verified"), Type.Literal("unverified")]),
  },
  {
    description:
      "Who owns the token of the channel. `unverified`: no one has verified the address since channels became part of the protocol, so the channel is parked until its owner does",
  },
);

export const CastingMode = Type.Union(
  [Type.Literal("everyone"), Type.Literal("members_only"), Type.Literal("recommended")],
  { description: "Who is to cast in the channel; `members_only` where its settings do not say" },
);

export const MembershipMode = Type.Union([Type.Literal("open"), Type.Literal("approval")], {
  description: "Whether users can add themselves; `approval` where the settings do not say",
});

export const LAPSED = "The registration ended more than 90 days ago";

export const ChannelRole = Type.Union([
  Type.Literal("owner"),
  Type.Literal("moderator"),
  Type.Literal("member"),
]);
