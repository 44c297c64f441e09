import { shellQuote } from "../../data/snippets.ts";
import { apiPrefix } from "../../page-config.ts";
import { plainName } from "../../text/name.ts";
import type { App } from "./app.ts";

const path = `${apiPrefix}/frame/app`;

/** The fields of an app that its owner decides on. */
export interface AppFields {
  readonly name: string;
  readonly app_url: string;
  readonly description: string | null;
  readonly signer_fid_allowlist: readonly number[];
}

const flags = ({ name, app_url, description, signer_fid_allowlist }: Partial<AppFields>) =>
  [
    name === undefined ? "" : ` --name ${shellQuote(name)}`,
    app_url === undefined ? "" : ` --app-url ${shellQuote(app_url)}`,
    description === undefined
      ? ""
      : description === null
        ? " --no-description"
        : ` --description ${shellQuote(description)}`,
    signer_fid_allowlist === undefined
      ? ""
      : ` --signer-fid-allowlist ${shellQuote(signer_fid_allowlist.join(","))}`,
  ].join("");

export const createOperation = (fields: AppFields) => ({
  op: "app.create",
  method: "POST" as const,
  path,
  body: fields,
  title: "Register a mini app",
  words: `“${fields.name}” at ${fields.app_url} becomes an app of yours. Its send secret is shown once.`,
  cli: `app create${flags(fields.description === null ? ({ ...fields, description: undefined } as Partial<AppFields>) : fields)}`,
});

export const updateOperation = (app: App, changes: Partial<AppFields>) => ({
  op: "app.update",
  method: "PUT" as const,
  path,
  body: { app_id: app.app_id, ...changes },
  title: "Change the app",
  words: `${Object.keys(changes)
    .map((field) => FIELD_NAMES[field] ?? field)
    .join(", ")} of “${app.name}” change.`,
  cli: `app update ${app.app_id}${flags(changes)}`,
});

const FIELD_NAMES: Readonly<Record<string, string>> = {
  name: "The name",
  app_url: "The URL",
  description: "The description",
  signer_fid_allowlist: "The accepted clients",
};

export const rotateOperation = ({ app_id, name }: App) => ({
  op: "app.rotate_secret",
  method: "POST" as const,
  path: `${path}/secret/rotate?app_id=${app_id}`,
  title: "Rotate the send secret",
  words: `“${name}” gets a new send secret, which is shown once. The present one works until the end of its grace period.`,
  cli: `app rotate ${app_id}`,
});

export const revealOperation = ({ app_id, name }: App) => ({
  op: "app.read",
  method: "GET" as const,
  path: `${path}?app_id=${app_id}`,
  title: "Reveal the send secrets",
  words: `The node shows the send secrets of “${name}” once more. Nothing changes.`,
  cli: `app get ${app_id}`,
});

/** Whether the visible part of a name is what the owner would have to type. */
const typeable = (name: string) => plainName(name) === name && !/^\s|\s$|\s\s/.test(name);

export const deleteOperation = ({ app_id, name }: App) => ({
  op: "app.delete",
  method: "DELETE" as const,
  path: `${path}?app_id=${app_id}`,
  title: "Delete the app",
  words: `“${name}” is deleted with its tokens, campaigns and secrets. Nobody can undo this: users would have to add the app again.`,
  typedName: typeable(name) ? name : app_id,
  cli: `app delete ${app_id}`,
});
