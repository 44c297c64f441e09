import { Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import { mapOk } from "../../../lib/result.ts";
import { MessageType } from "../../../protocol/wire/generated/message.ts";
import { profileLookups } from "../../../writes/compose/index-lookups.ts";
import { composeProfile } from "../../../writes/compose/profile.ts";
import { composeVerification, composeVerificationRemove } from "../../../writes/compose/verification.ts";
import { closed } from "../../shared/schemas.ts";
import { executeManagedWrite, type ManagedWriteDeps } from "./managed-write.ts";
import { done, OperationResponse, signerBody, writeOperation } from "./schemas.ts";

const tags = ["Users"];
const text = (description: string) => Type.Optional(Type.String({ description }));

const ProfileRequest = signerBody({
  pfp_url: text("At most 256 bytes"),
  display_name: text("At most 32 bytes"),
  bio: text("At most 256 bytes"),
  url: text("At most 256 bytes"),
  username: text("A name with a live proof of this user"),
  location: Type.Optional(
    Type.Object({
      latitude: Type.Number({ minimum: -90, maximum: 90 }),
      longitude: Type.Number({ minimum: -180, maximum: 180 }),
    }),
  ),
  verified_accounts: Type.Optional(
    Type.Object({ x: text("Username on X"), github: text("Username on GitHub") }),
  ),
  banner: text("URL; needs Pro"),
  primary_eth_address: text("A verified address of this user"),
  primary_sol_address: text("A verified address of this user"),
});

const PartlyRefused = Type.Object(
  { success: Type.Literal(false), errors: Type.Array(Type.Object({ message: Type.String() }, closed)) },
  { ...closed, $id: "PartlyRefused" },
);

const claim = {
  address: Type.String({ description: "Ethereum address" }),
  block_hash: Type.String({ description: "32 bytes, hex" }),
  eth_signature: Type.String({ description: "The claim's signature by the address, hex" }),
};

/** Profile fields and verifications of addresses by managed signers. */
export function publishProfileRoutes(deps: ManagedWriteDeps): AnyElysia {
  return new Elysia({ name: "publish-profiles" })
    .patch(
      "/user",
      async (context) => {
        const type = MessageType.MESSAGE_TYPE_USER_DATA_ADD;
        const { outcomes } = await executeManagedWrite(context, deps, {
          types: [type],
          compose: ({ db, fields, fid, nowSecs }) =>
            mapOk(composeProfile(profileLookups(db, fid, nowSecs), fid, fields), (bodies) =>
              bodies.map((value) => ({ type, body: { $case: "userDataBody" as const, value } })),
            ),
        });
        const errors = outcomes.flatMap(({ refusal }) => (refusal ? [{ message: refusal.message }] : []));
        if (errors.length === 0) return done("the profile is changed");
        context.set.status = 207;
        return { success: false as const, errors };
      },
      writeOperation({
        operationId: "updateUser",
        summary: "Change a profile",
        description:
          "Only given fields change; an empty text unsets one. All are checked before the first is sent. 207: the network has refused some.",
        tags,
        body: ProfileRequest,
        response: OperationResponse,
        responses: { 207: PartlyRefused },
      }),
    )
    .post(
      "/user/verification",
      async (context) => {
        const type = MessageType.MESSAGE_TYPE_VERIFICATION_ADD;
        await executeManagedWrite(context, deps, {
          types: [type],
          compose: ({ fields }) =>
            mapOk(composeVerification(fields), (value) => [
              { type, body: { $case: "verificationAddBody" as const, value } },
            ]),
        });
        return done("the address is verified");
      },
      writeOperation({
        operationId: "addVerification",
        summary: "Verify an address",
        description:
          "`eth_signature` is the address's signature of the protocol's claim of this user. Type 1 is the signature of a contract, which is checked on its chain.",
        tags,
        body: signerBody({
          ...claim,
          verification_type: Type.Optional(Type.Union([Type.Literal(0), Type.Literal(1)])),
          chain_id: Type.Optional(Type.Union([Type.Literal(0), Type.Literal(1), Type.Literal(10)])),
        }),
        response: OperationResponse,
      }),
    )
    .delete(
      "/user/verification",
      async (context) => {
        const type = MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE;
        await executeManagedWrite(context, deps, {
          types: [type],
          compose: ({ fields }) =>
            mapOk(composeVerificationRemove(fields), (value) => [
              { type, body: { $case: "verificationRemoveBody" as const, value } },
            ]),
        });
        return done("the address is not verified");
      },
      writeOperation({
        operationId: "deleteVerification",
        summary: "Remove a verification",
        description: "The protocol takes no claim for it: only the address counts.",
        tags,
        body: signerBody({
          address: claim.address,
          block_hash: Type.Optional(claim.block_hash),
          eth_signature: Type.Optional(claim.eth_signature),
        }),
        response: OperationResponse,
      }),
    );
}
