import { Elysia } from "elysia";
import { operation } from "../../http/operation.ts";
import { cursor, fid, limit, optional } from "../../http/params.ts";
import type { Reads } from "../../read/answers.ts";
import { presentIdRegistryEvent, presentSignerEvent } from "../../read/present/registry-event.ts";
import { registryEvents, registryEventsCursors } from "../../read/skeleton/registry-events.ts";
import { decodeCursor } from "../cursor-param.ts";
import { IdRegistryEventPageResponse, SignerEventPageResponse } from "./objects.ts";

interface Context {
  readonly query: { readonly fid: number; readonly limit: number; readonly cursor: string | undefined };
}

/** Who reads these lists mostly knows nothing of pages, so a page holds what nearly every fid has. */
const DEFAULT_EVENTS = 100;

/** What the on-chain registries tell of an fid: its keys and its custody. */
export function signerRoutes(reads: Reads) {
  const eventsOf = (kind: keyof typeof registryEventsCursors, { query }: Context) => {
    const after = decodeCursor(registryEventsCursors[kind], query.cursor);
    return registryEvents(reads.db, { kind, fid: query.fid, limit: query.limit, after });
  };
  const listSigners = (context: Context) => {
    const { rows, cursor } = eventsOf("signer", context);
    return { events: rows.flatMap((event) => presentSignerEvent(event) ?? []), next: { cursor } };
  };
  const listRegistrations = (context: Context) => {
    const { rows, cursor } = eventsOf("idRegister", context);
    return { events: rows.flatMap((event) => presentIdRegistryEvent(event) ?? []), next: { cursor } };
  };

  const tags = ["Signers and on-chain events"];
  const query = () => ({ fid: fid(), limit: optional(limit(), DEFAULT_EVENTS), cursor: cursor() });
  const signers = (operationId: string) =>
    operation({
      operationId,
      summary: "Every event of an fid's on-chain keys, in chain order",
      tags,
      query: query(),
      response: SignerEventPageResponse,
    });
  return new Elysia({ name: "signers" })
    .get("/signer", listSigners, signers("getSignerEvents"))
    .get("/signers", listSigners, signers("getSignerEventsAlias"))
    .get("/signer/list", listSigners, signers("listSignerEvents"))
    .get("/onchain/signers", listSigners, signers("getOnChainSigners"))
    .get(
      "/onchain/id_registry_event",
      listRegistrations,
      operation({
        operationId: "getIdRegistryEvents",
        summary: "Registration, transfers and recovery changes of an fid, in chain order",
        tags,
        query: query(),
        response: IdRegistryEventPageResponse,
      }),
    );
}
