import type { SigningOwner } from "../auth/verify.ts";
import type { Thresholds } from "../checks/check.ts";
import type { IncidentReport } from "../checks/incident-report.ts";
import type { IncidentStore } from "../checks/incident-store.ts";
import type { OwnerFindings } from "../checks/owners/owner-findings.ts";
import { ownerCheckOf } from "../checks/owners/owner-table.ts";
import { ownReportOf, SHOWN_DAYS } from "../checks/report.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { recordChange } from "../management/owned-service.ts";
import { badField, type Refusal, refused } from "../management/refusal.ts";
import { schemaReader } from "../management/request-schema.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { AddedChannel } from "./channels.ts";
import {
  AcknowledgeIncidentRequest,
  CreateNoticeChannelRequest,
  TestNoticeChannelRequest,
  UpdateNoticeChannelRequest,
} from "./owner-requests.ts";
import type { ChannelReport, ChannelRequest } from "./report.ts";
import type { OwnerActor, OwnersRpc } from "./rpc.ts";

/** An incident of an owner's record. */
export interface OwnIncident extends IncidentReport {
  /** What the owner should do. */
  readonly remedy: string;
  /** Page of the record, relative to the node's URL. */
  readonly path: string;
}

/** Channels of an owner, and the incidents of the owner's records. `body` is the parsed JSON of the request. */
export interface OwnerNotices {
  /** `pushKey` is for `PushManager.subscribe`. Null if the node does not send to browsers. */
  list(
    owner: SigningOwner,
  ): Promise<{ readonly channels: readonly ChannelReport[]; readonly pushKey: string | null }>;
  create(actor: OwnerActor, body: unknown): Promise<Result<AddedChannel, Refusal>>;
  update(actor: OwnerActor, body: unknown): Promise<Result<ChannelReport, Refusal>>;
  delete(actor: OwnerActor, channelId: string): Promise<Result<undefined, Refusal>>;
  test(actor: OwnerActor, body: unknown): Promise<Result<undefined, Refusal>>;
  /** Incidents of the last 90 days, newest first. */
  incidents(fid: number): Promise<readonly OwnIncident[]>;
  acknowledge(actor: OwnerActor, body: unknown): Promise<Result<undefined, Refusal>>;
}

const DAY_SECS = 86_400;
/** Returns the part of a request that can be sent to another thread. */
const sent = ({ fid, custody, apiKeyId, requestId, address }: OwnerActor): OwnerActor => ({
  fid,
  custody,
  apiKeyId,
  requestId,
  address,
});
const readCreate = schemaReader(CreateNoticeChannelRequest);
const readUpdate = schemaReader(UpdateNoticeChannelRequest);
const readTest = schemaReader(TestNoticeChannelRequest);
const readAcknowledge = schemaReader(AcknowledgeIncidentRequest);
const NO_CHANNEL = refused("notFound", "no such channel");
const CHANNEL_ID = new RegExp(TestNoticeChannelRequest.properties.channel_id.pattern ?? "");

export interface OwnerNoticesDeps {
  /** The main thread, which sends the notices. */
  readonly node: OwnersRpc;
  readonly incidents: Pick<IncidentStore, "listOf" | "acknowledgeOwn">;
  readonly findings: Pick<OwnerFindings, "webhook">;
  readonly thresholds: Thresholds;
  readonly clock: Clock;
}

export function createOwnerNotices(deps: OwnerNoticesDeps): OwnerNotices {
  const { node, incidents, findings, thresholds, clock } = deps;
  const refuse = (error: string | null) => (error === null ? NO_CHANNEL : badField(error));
  return {
    list: ({ fid, custody }) => node.ownChannels({ fid, custody }),

    async create(actor, body) {
      const request = readCreate(body);
      if (!request.ok) return request;
      const { hook, push, ...terms } = request.value;
      if ((hook === undefined) === (push === undefined)) return badField("give either hook or push");
      const target = hook ? { kind: "hook", preset: "json", ...hook } : { kind: "push", ...push };
      const added = await node.addOwnChannel(sent(actor), { ...terms, ...target } as ChannelRequest);
      if (added.ok) return added;
      return added.error.isFull
        ? refused("tooManyRequests", added.error.message)
        : badField(added.error.message);
    },

    async update(actor, body) {
      const request = readUpdate(body);
      if (!request.ok) return request;
      const { channel_id: id, ...terms } = request.value;
      const changed = await node.changeOwnChannel(sent(actor), { action: "update", id, terms });
      if (!changed.ok) return refuse(changed.error);
      return changed.value ? ok(changed.value) : NO_CHANNEL;
    },

    async delete(actor, id) {
      if (!CHANNEL_ID.test(id)) return NO_CHANNEL;
      const changed = await node.changeOwnChannel(sent(actor), { action: "delete", id });
      return changed.ok ? ok(undefined) : refuse(changed.error);
    },

    async test(actor, body) {
      const request = readTest(body);
      if (!request.ok) return request;
      const changed = await node.changeOwnChannel(sent(actor), {
        action: "test",
        id: request.value.channel_id,
      });
      return changed.ok ? ok(undefined) : refuse(changed.error);
    },

    async incidents(fid) {
      const now = nowSecs(clock);
      const own = await incidents.listOf(fid, now - SHOWN_DAYS * DAY_SECS);
      return Promise.all(
        own.map(async (incident) => {
          const { checkId, nodeId: subject } = incident;
          const check = ownerCheckOf(checkId);
          return {
            ...(await ownReportOf(incident, { findings, nowSecs: now, thresholds })),
            remedy: check?.remedy ?? "",
            path: check?.path(subject) ?? "/console/manage",
          };
        }),
      );
    },

    async acknowledge(actor, body) {
      const request = readAcknowledge(body);
      if (!request.ok) return request;
      const { incident_id: id } = request.value;
      const entry = recordChange("incident.ack", actor, id, clock);
      return (await incidents.acknowledgeOwn(actor.fid, id, nowSecs(clock), entry))
        ? ok(undefined)
        : err({ kind: "notFound", message: "no such incident" });
    },
  };
}
