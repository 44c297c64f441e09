import { Type } from "@sinclair/typebox";
import { mapOk } from "../../../lib/result.ts";
import { MessageType } from "../../../protocol/wire/generated/message.ts";
import { profileLookups } from "../../../writes/compose/index-lookups.ts";
import { composeProfile } from "../../../writes/compose/profile.ts";
import { composeVerification, composeVerificationRemove } from "../../../writes/compose/verification.ts";
import { object } from "../../dialects/fields.ts";
import { done, managedWrite, signerBody } from "./managed-write.ts";

const optionalText = (description: string) => Type.Optional(Type.String({ description }));

const ProfileRequest = signerBody({
  pfp_url: optionalText("At most 256 bytes"),
  display_name: optionalText("At most 32 bytes"),
  bio: optionalText("At most 256 bytes"),
  url: optionalText("At most 256 bytes"),
  username: optionalText("A name with a live proof of this user"),
  location: Type.Optional(
    Type.Object({
      latitude: Type.Number({ minimum: -90, maximum: 90 }),
      longitude: Type.Number({ minimum: -180, maximum: 180 }),
    }),
  ),
  verified_accounts: Type.Optional(
    Type.Object({ x: optionalText("Username on X"), github: optionalText("Username on GitHub") }),
  ),
  banner: optionalText("URL; needs Pro"),
  primary_eth_address: optionalText("A verified address of this user"),
  primary_sol_address: optionalText("A verified address of this user"),
});

const PartlyRefused = object(
  { success: Type.Literal(false), errors: Type.Array(object({ message: Type.String() })) },
  { $id: "PartlyRefused" },
);

const claim = {
  address: Type.String({ description: "Ethereum address" }),
  block_hash: Type.String({ description: "32 bytes, hex" }),
  eth_signature: Type.String({ description: "The claim's signature by the address, hex" }),
};

export const profileWriteOperations = [
  ...managedWrite({
    id: "updateUser",
    method: "PATCH",
    path: "/user",
    tag: "Users",
    summary: "Change a profile",
    description:
      "Only given fields change; an empty text unsets one. All are checked before the first is sent. 207: the network has refused some.",
    body: ProfileRequest,
    responses: { 207: PartlyRefused },
    type: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
    compose: ({ db, fields, fid, nowSecs }) =>
      mapOk(composeProfile(profileLookups(db, fid, nowSecs), fid, fields), (bodies) =>
        bodies.map((value) => ({
          type: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
          body: { $case: "userDataBody" as const, value },
        })),
      ),
    present({ outcomes }, { set }) {
      const errors = outcomes.flatMap(({ refusal }) => (refusal ? [{ message: refusal.message }] : []));
      if (errors.length === 0) return done("the profile is changed");
      set.status = 207;
      return { success: false, errors };
    },
  }),
  ...managedWrite({
    id: "addVerification",
    method: "POST",
    path: "/user/verification",
    tag: "Users",
    summary: "Verify an address",
    description:
      "`eth_signature` is the address's signature of the protocol's claim of this user. Type 1 is the signature of a contract, which is checked on its chain.",
    body: signerBody({
      ...claim,
      verification_type: Type.Optional(Type.Union([Type.Literal(0), Type.Literal(1)])),
      chain_id: Type.Optional(Type.Union([Type.Literal(0), Type.Literal(1), Type.Literal(10)])),
    }),
    type: MessageType.MESSAGE_TYPE_VERIFICATION_ADD,
    compose: ({ fields }) =>
      mapOk(composeVerification(fields), (value) => [
        {
          type: MessageType.MESSAGE_TYPE_VERIFICATION_ADD,
          body: { $case: "verificationAddBody" as const, value },
        },
      ]),
    present: "the address is verified",
  }),
  ...managedWrite({
    id: "deleteVerification",
    method: "DELETE",
    path: "/user/verification",
    tag: "Users",
    summary: "Remove a verification",
    description: "The protocol takes no claim for it: only the address counts.",
    body: signerBody({
      address: claim.address,
      block_hash: Type.Optional(claim.block_hash),
      eth_signature: Type.Optional(claim.eth_signature),
    }),
    type: MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE,
    compose: ({ fields }) =>
      mapOk(composeVerificationRemove(fields), (value) => [
        {
          type: MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE,
          body: { $case: "verificationRemoveBody" as const, value },
        },
      ]),
    present: "the address is not verified",
  }),
];
