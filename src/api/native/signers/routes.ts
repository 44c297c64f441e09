import { Elysia } from "elysia";
import { aliasOf, operation } from "../../../http/operation.ts";
import { cursor, fid, limit, optional } from "../../../http/params.ts";
import { presentIdRegistryEvent, presentSignerEvent } from "../../../read/present/native/registry-event.ts";
import { registryEvents, registryEventsCursors } from "../../../read/queries/users/registry-events.ts";
import type { ReadSource } from "../../../read/run-query.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import { IdRegistryEventPageResponse, SignerEventPageResponse } from "./schemas.ts";

interface EventsQuery {
  readonly fid: number;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** Most clients of these lists do not page, so the default page holds the events of nearly every fid. */
export const DEFAULT_EVENTS = 100;

const tags = ["Signers and on-chain events"];
const params = () => ({ fid: fid(), limit: optional(limit(), DEFAULT_EVENTS), cursor: cursor() });
const signersHook = operation({
  cache: "shared",
  operationId: "getSignerEvents",
  summary: "Every event of an fid's on-chain keys, in chain order",
  tags,
  query: params(),
  response: SignerEventPageResponse,
});

function eventsOf({ db }: ReadSource, kind: keyof typeof registryEventsCursors, query: EventsQuery) {
  const after = decodeCursor(registryEventsCursors[kind], query.cursor);
  return registryEvents(db, { kind, fid: query.fid, limit: query.limit, after });
}

/** Returns a page of the events of an fid's keys. */
export function listSigners(source: ReadSource, query: EventsQuery) {
  const { rows, cursor } = eventsOf(source, "signer", query);
  return { events: rows.flatMap((event) => presentSignerEvent(event) ?? []), next: { cursor } };
}

/**
 * Routes of the events of an fid's keys. The first of `paths` is the canonical one. Hosted APIs use some of these
 * paths for keys that they manage, so each dialect chooses its paths.
 */
export function signerRoutes(reads: ReadSource, paths: readonly [canonical: string, ...aliases: string[]]) {
  const app = new Elysia({ name: "signers" });
  const [canonical, ...aliases] = paths;
  const list = ({ query }: { readonly query: EventsQuery }) => listSigners(reads, query);
  app.get(canonical, list, signersHook);
  for (const path of aliases) app.get(path, list, aliasOf(canonical, signersHook));
  return app;
}

/** Routes of the on-chain registries' data about an fid: its keys and its custody. */
export function registryRoutes(reads: ReadSource) {
  const listRegistrations = ({ query }: { readonly query: EventsQuery }) => {
    const { rows, cursor } = eventsOf(reads, "idRegister", query);
    return { events: rows.flatMap((event) => presentIdRegistryEvent(event) ?? []), next: { cursor } };
  };
  return new Elysia({ name: "registry-events" }).get(
    "/onchain/id_registry_event",
    listRegistrations,
    operation({
      cache: "shared",
      operationId: "getIdRegistryEvents",
      summary: "Registration, transfers and recovery changes of an fid, in chain order",
      tags,
      query: params(),
      response: IdRegistryEventPageResponse,
    }),
  );
}
