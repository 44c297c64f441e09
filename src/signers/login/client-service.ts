import { ok, type Result } from "../../lib/result.ts";
import {
  type Actor,
  createOwnedParts,
  type OwnedService,
  recordChange,
} from "../../management/owned-service.ts";
import { changedMembers } from "../../management/record-fields.ts";
import { badField, type Refusal } from "../../management/refusal.ts";
import { schemaReader } from "../../management/request-schema.ts";
import type { Clock } from "../../runtime/clock.ts";
import { isRedirectUrl } from "../../sign-in/domain.ts";
import { CreateLoginClientRequest, LOGIN_CLIENT_FIELDS, UpdateLoginClientRequest } from "./client-fields.ts";
import type { LoginClient, LoginClientChanges, LoginClientStore } from "./client-store.ts";

/** Lets owners manage their login clients. `body` is the parsed JSON of the request. */
export interface LoginClientService extends Omit<OwnedService<LoginClient>, "rotateSecret"> {
  create(actor: Actor, body: unknown): Promise<Result<LoginClient, Refusal>>;
  update(actor: Actor, body: unknown): Promise<Result<LoginClient, Refusal>>;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1)(?::\d{1,5})?$/;
/** The URL parser accepts a wildcard as a host name, but no page has such an origin. */
const HOST = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;
/** Maximum number of login clients per fid. */
const MAX_CLIENTS = 25;
const readCreate = schemaReader(CreateLoginClientRequest);
const readUpdate = schemaReader(UpdateLoginClientRequest);

export function createLoginClientService(options: {
  readonly store: LoginClientStore;
  readonly clock: Clock;
  /** Whether this node listens only on this machine, so that local pages may sign in. */
  readonly allowsLoopback: boolean;
}): LoginClientService {
  const { store, clock, allowsLoopback } = options;
  const settings = { cap: MAX_CLIENTS, graceSecs: 0 };
  const parts = createOwnedParts<LoginClient, LoginClientChanges>({
    store,
    clock,
    settings,
    noun: "login client",
    idKey: "client_id",
  });
  const auditOf = (action: string, actor: Actor) => (id: string) =>
    recordChange(`login_client.${action}`, actor, id, clock);

  /** Checks fields that already have the right shape. */
  function faultOf({ origins, redirectUris, permissions }: LoginClientChanges): Result<undefined, Refusal> {
    for (const origin of origins ?? [])
      if (!(isHttpsOrigin(origin) || (allowsLoopback && LOOPBACK.test(origin))))
        return badField("every entry of origins must be an https origin, such as https://app.example");
    for (const uri of redirectUris ?? [])
      if (!isRedirectUrl(uri))
        return badField("every entry of redirect_uris must be an https URL or a URL of an app's own scheme");
    if (permissions !== undefined && permissions !== "read" && permissions !== "write")
      return badField("permissions must be read or write");
    return ok(undefined);
  }

  return {
    get: parts.get,
    list: parts.list,
    delete: (actor, id) => parts.delete(actor.fid, id, auditOf("delete", actor)(id)),

    async create(actor, body) {
      const request = readCreate(body);
      if (!request.ok) return request;
      const { client_id: clientId = crypto.randomUUID() } = request.value;
      if (!UUID.test(clientId)) return badField("client_id must be a UUID in lower case");
      const now = parts.now();
      const { name, origins, redirect_uris: redirectUris = [], permissions } = request.value;
      const fault = faultOf({
        origins,
        redirectUris,
        permissions: permissions as LoginClient["permissions"],
      });
      if (!fault.ok) return fault;
      const client = {
        clientId,
        ownerFid: actor.fid,
        name,
        origins,
        redirectUris,
        permissions: permissions as LoginClient["permissions"],
        secrets: [],
        createdAt: now,
        updatedAt: now,
      };
      return parts.create(client, auditOf("create", actor)(clientId));
    },

    update: (actor, body) => {
      const read = async (): Promise<Result<LoginClientChanges, Refusal>> => {
        const request = readUpdate(body);
        if (!request.ok) return request;
        const changes = changedMembers(LOGIN_CLIENT_FIELDS, request.value) as LoginClientChanges;
        const fault = faultOf(changes);
        return fault.ok ? ok(changes) : fault;
      };
      return parts.update(actor.fid, body, read, auditOf("update", actor));
    },
  };
}

function isHttpsOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === "https:" && url.origin === text && HOST.test(url.hostname);
}
