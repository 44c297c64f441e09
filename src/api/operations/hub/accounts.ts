import { Type } from "@sinclair/typebox";
import { perRows } from "../../../http/limits/prices.ts";
import { optional } from "../../../http/request/params.ts";
import type { ChainEvent } from "../../../read/hub/chain-reads.ts";
import { type ActiveKey, encodeKey } from "../../../read/hub/key-reads.ts";
import { eventJson, limitsJson, signerJson } from "./chain-json.ts";
import { proofJson } from "./message-json.ts";
import { ON_CHAIN_EVENT_TYPES } from "./names.ts";
import { cacheOfAll, hubRead, jsonFormat, listReaderOf, markPartial, pageStream, show } from "./operation.ts";
import {
  bytesParam,
  enumParam,
  fidListParam,
  fidParam,
  pageOf,
  pageParams,
  shardParam,
  textParam,
} from "./params.ts";
import {
  closedObject,
  HubOnChainEvent,
  HubOnChainEvents,
  HubOnChainEventsOrOne,
  HubSigner,
  HubUserNameProof,
  nextPageToken,
  openObject,
} from "./schemas.ts";

const MAX_REQUESTERS = 100;

const fidPage = { fid: fidParam(), ...pageParams };

const EVENTS = jsonFormat(({ bytes }: ChainEvent) => eventJson(bytes));

const KEYS = jsonFormat((key: ActiveKey) => signerJson(encodeKey(key)));

export const accountOperations = [
  hubRead({
    id: "hubFids",
    path: "/fids",
    cache: cacheOfAll,
    price: perRows(5),
    summary: "The registered fids, ascending",
    query: { shardId: shardParam, ...pageParams },
    response: closedObject({ fids: Type.Array(Type.Integer()), nextPageToken }),
    run: async ({ reads }, { query, request, set }) => {
      markPartial(reads, set);
      const fids = { show: (fid: number) => String(fid), bytesOf: (text: string) => text.length + 1 };
      const page = { ...pageOf(query), shardId: query.shardId };
      return show(await reads.fids(page, fids, listReaderOf(request)), (found) => pageStream("fids", found));
    },
  }),
  hubRead({
    id: "hubUserNameProofByName",
    path: "/userNameProofByName",
    summary: "The live proof of a name",
    query: { name: textParam("name") },
    response: HubUserNameProof,
    run: ({ reads }, { query }) => show(reads.usernameProof({ name: Buffer.from(query.name) }), proofJson),
  }),
  hubRead({
    id: "hubUserNameProofsByFid",
    path: "/userNameProofsByFid",
    summary: "The proofs of an fid, by name",
    query: { fid: fidParam() },
    response: closedObject({ proofs: Type.Array(HubUserNameProof) }),
    run: ({ reads }, { query }) =>
      show(reads.usernameProofsByFid(query), (proofs) => ({ proofs: proofs.map(proofJson) })),
  }),
  hubRead({
    id: "hubStorageLimitsByFid",
    path: "/storageLimitsByFid",
    summary: "The storage limits of an fid, and what it uses",
    query: { fid: fidParam() },
    response: openObject({ limits: Type.Array(openObject({})), units: Type.Integer() }),
    run: ({ reads }, { query }) => show(reads.storageLimits(query), limitsJson),
  }),
  hubRead({
    id: "hubOnChainSignersByFid",
    path: "/onChainSignersByFid",
    price: perRows(5),
    summary: "The events of the active keys of an fid, or that of one of them",
    query: { ...fidPage, signer: optional(bytesParam("signer")) },
    response: HubOnChainEventsOrOne,
    run: async ({ reads }, { query, request }) => {
      const { fid, signer } = query;
      if (signer !== undefined)
        return show(reads.onChainSigner({ fid, signer }), ({ bytes }) => {
          const event = eventJson(bytes);
          return { ...event, events: [event], nextPageToken: "" };
        });
      const page = { fid, ...pageOf(query) };
      return show(await reads.onChainSignersByFid(page, EVENTS, listReaderOf(request)), (found) =>
        pageStream("events", found),
      );
    },
  }),
  hubRead({
    id: "hubSigner",
    path: "/signer",
    summary: "An active key of an fid, on chain or gasless",
    query: { fid: fidParam(), signer: bytesParam("signer") },
    response: closedObject({ signer: HubSigner }),
    run: ({ reads }, { query }) =>
      show(reads.signer(query), (key) => ({ signer: signerJson(encodeKey(key)) })),
  }),
  hubRead({
    id: "hubSignersByFid",
    path: "/signersByFid",
    price: perRows(5),
    summary: "The active keys of an fid: those on chain, then gasless ones",
    query: { ...fidPage, requesterFids: optional(fidListParam("requester_fids", MAX_REQUESTERS)) },
    response: openObject({ signers: Type.Array(HubSigner), nextPageToken }),
    run: async ({ reads }, { query, request }) => {
      const { fid, requesterFids = [] } = query;
      const found = await reads.signersByFid(
        { fid, requesterFids, ...pageOf(query) },
        KEYS,
        listReaderOf(request),
      );
      return show(found, ({ summary: { requesterFidNonces, ...counts }, ...page }) => {
        // Like on the reference node, absent if none is requested.
        const summary = requesterFids.length === 0 ? counts : { ...counts, requesterFidNonces };
        const fields = JSON.stringify(summary).slice(1, -1);
        return pageStream("signers", page, `${fields},`);
      });
    },
  }),
  hubRead({
    id: "hubOnChainEventsByFid",
    path: "/onChainEventsByFid",
    price: perRows(5),
    summary: "The on-chain events of one type of an fid",
    query: { ...fidPage, eventType: enumParam("event_type", ON_CHAIN_EVENT_TYPES) },
    response: HubOnChainEvents,
    run: async ({ reads }, { query, request }) => {
      const { fid, eventType } = query;
      const page = { fid, eventType, ...pageOf(query) };
      return show(await reads.onChainEvents(page, EVENTS, listReaderOf(request)), (found) =>
        pageStream("events", found),
      );
    },
  }),
  hubRead({
    id: "hubOnChainIdRegistryEventByAddress",
    path: "/onChainIdRegistryEventByAddress",
    summary: "The last registration or transfer of the lowest fid that an address has in custody",
    query: { address: bytesParam("address") },
    response: HubOnChainEvent,
    run: ({ reads }, { query }) =>
      show(reads.idRegistryEventByAddress(query), ({ bytes }) => eventJson(bytes)),
  }),
  hubRead({
    id: "hubFidAddressType",
    path: "/fidAddressType",
    summary: "What an address is to an fid",
    query: { fid: fidParam(), address: bytesParam("address") },
    response: closedObject({
      is_custody: Type.Boolean(),
      is_auth: Type.Boolean(),
      is_verified: Type.Boolean(),
    }),
    run: ({ reads }, { query }) =>
      show(reads.fidAddressType(query), ({ isCustody, isAuth, isVerified }) => ({
        is_custody: isCustody,
        is_auth: isAuth,
        is_verified: isVerified,
      })),
  }),
];
