import {
  IdRegisterEventType,
  type OnChainEvent,
  OnChainEventType,
} from "../../../src/protocol/wire/generated/on-chain.ts";
import { type Expectation, type ExpectationContext, fidOf, type List, list, one } from "../expectation.ts";
import { hexOf } from "../facts.ts";
import { expiryOfRent, type StoreName } from "../network.ts";
import type { View } from "../view.ts";
import { CLAIMED_NAMES, FNAMES } from "../vocabulary.ts";

const SIGNERS = ["/signer", "/signers", "/signer/list", "/onchain/signers"];

/** The specification has no default limit for these lists: a page without a limit has the maximum size. */
const unlimited = (events: List): List => ({ ...events, defaultLimit: 100 });

/** Sections 4.9 and 4.12, and storage. */
export function registryExpectations({ view, fids }: ExpectationContext): Expectation[] {
  return [
    ...fids.flatMap((fid) => [
      unlimited(list(SIGNERS, { fid }, { events: signerEvents(view, fidOf(fid)) })),
      unlimited(
        list(["/onchain/id_registry_event"], { fid }, { events: idRegistryEvents(view, fidOf(fid)) }),
      ),
      ...(typeof fid === "number" ? storage(view, fid) : []),
    ]),
    ...names(view),
    ...["/user/subscribed_to", "/user/subscribers", "/user/subscriptions_created"].map((path) =>
      one(path, { fid: 3 }, { subscriptions: [], next: { cursor: null } }),
    ),
    one("/user/power_users", {}, { users: [] }),
    one("/user/balance", { fid: 3 }, { balances: [], next: { cursor: null } }),
    one("/channel/member/invite/list", {}, { members: [], next: { cursor: null } }),
    one("/ban/list", {}, { bans: [], next: { cursor: null } }),
    ...["/signer/signed_key", "/signer/developer_managed", "/signer/developer_managed/signed_key"].map(
      (path) => one(path, {}, { events: [], next: { cursor: null } }),
    ),
  ];
}

const SIGNER_EVENTS = ["", "add", "remove", "admin_reset"] as const;

export function signerEvents(view: View, fid: number) {
  return view.network.eventsOf(fid, OnChainEventType.EVENT_TYPE_SIGNER).flatMap((event) =>
    event.body?.$case === "signerEventBody"
      ? [
          {
            object: "signer",
            fid,
            event_type: SIGNER_EVENTS[event.body.value.eventType],
            block_number: event.blockNumber,
            block_timestamp: event.blockTimestamp,
            signer_key: hexOf(event.body.value.key),
            key_type: event.body.value.keyType,
            metadata_type: event.body.value.metadataType,
          },
        ]
      : [],
  );
}

const ID_EVENTS: Readonly<Record<number, string>> = {
  [IdRegisterEventType.ID_REGISTER_EVENT_TYPE_REGISTER]: "Register",
  [IdRegisterEventType.ID_REGISTER_EVENT_TYPE_TRANSFER]: "Transfer",
  [IdRegisterEventType.ID_REGISTER_EVENT_TYPE_CHANGE_RECOVERY]: "ChangeRecovery",
};

const addressOrNull = (bytes: Uint8Array) => (bytes.length === 0 ? null : hexOf(bytes));

function idRegister(event: OnChainEvent) {
  if (event.body?.$case !== "idRegisterEventBody") throw new Error("no id-registry event");
  return event.body.value;
}

export function idRegistryEvents(view: View, fid: number) {
  return view.network.eventsOf(fid, OnChainEventType.EVENT_TYPE_ID_REGISTER).map((event) => {
    const { eventType, from, to, recoveryAddress } = idRegister(event);
    return {
      object: "id_registry_event",
      fid,
      event_type: ID_EVENTS[eventType],
      block_number: event.blockNumber,
      block_timestamp: event.blockTimestamp,
      from: addressOrNull(from),
      to: addressOrNull(to),
      recovery_address: addressOrNull(recoveryAddress),
    };
  });
}

/** The same events in the form of the batch reads. */
export function idRegistrations(view: View, fid: number) {
  return idRegistryEvents(view, fid).map(({ from, to, block_timestamp, event_type }) => ({
    from,
    to,
    timestamp: block_timestamp,
    event_type: event_type === "ChangeRecovery" ? "change_recovery" : event_type?.toLowerCase(),
  }));
}

const STORES: readonly StoreName[] = [
  "casts",
  "reactions",
  "links",
  "verifications",
  "user_data",
  "username_proofs",
  "storage_lends",
];

/** The stores that the specification names come first, the others after them in the order of the protocol's table. */
function storage(view: View, fid: number): Expectation[] {
  const { network } = view;
  const allocations = {
    total_active_units: network.unitsOf(fid).reduce((sum, { net }) => sum + net, 0),
    allocations: network.rentsOf(fid).map(({ units, at }) => ({
      object: "storage_allocation",
      fid,
      units,
      expiry: expiryOfRent(at),
      timestamp: at,
    })),
  };
  const usage = {
    object: "storage_usage",
    units: STORES.map((store) => ({
      store_type: store,
      used: network.used(fid, store),
      capacity: network.capacity(fid, store),
    })),
  };
  return [
    ...["/user/storage-allocations", "/storage/allocations"].map((path) => one(path, { fid }, allocations)),
    ...["/user/storage-usage", "/storage/usage"].map((path) => one(path, { fid }, usage)),
  ];
}

function names(view: View): Expectation[] {
  const proof = (username: string) => {
    const live = view.names.find(({ name }) => name === username);
    return one(
      "/username-proof",
      { username },
      {
        username_proof: live
          ? {
              timestamp: live.timestamp,
              name: live.name,
              owner: live.owner,
              signature: live.signature,
              fid: live.fid,
              type: live.type,
            }
          : null,
      },
    );
  };
  const availability = (fname: string) => {
    const name = fname.trim().replace(/^@/, "").toLowerCase();
    const isTaken = view.names.some((live) => live.name === name);
    return one("/fname/availability", { fname }, { available: !isTaken, username: isTaken ? name : null });
  };
  return [
    ...[...FNAMES, ...CLAIMED_NAMES, "user1", "user9", "user12", "nobody", "ALICE"].map(proof),
    ...[...FNAMES, "user1", " @Alice ", "@user2", "USER9", "nobody"].map(availability),
    ...["alice.eth", "-a", "a b", "ab_c", "abcdefghijklmnopq"].map((fname) =>
      one("/fname/availability", { fname }, { available: false, username: null }),
    ),
  ];
}
