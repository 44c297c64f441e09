import { Field } from "../../parts/field.tsx";
import { fidListProblem, readFidList } from "../fid-list.ts";
import type { AppFields } from "./app-operations.ts";
import { charsOf } from "./send-draft.ts";

/** The fields of an app as they stand in a form. */
export interface AppDraft {
  readonly name: string;
  readonly url: string;
  readonly description: string;
  /** Fids as typed. */
  readonly allowlist: string;
}

const MAX_NAME_CHARS = 128;

export const emptyAppDraft: AppDraft = { name: "", url: "", description: "", allowlist: "" };

export function appProblems({ name, url, allowlist }: AppDraft): {
  readonly [field in keyof AppDraft]?: string;
} {
  const isHttps = URL.canParse(url) && new URL(url).protocol === "https:";
  const fids = fidListProblem(readFidList(allowlist));
  return {
    ...(name === "" && { name: "Give it a name." }),
    ...(charsOf(name) > MAX_NAME_CHARS && { name: `At most ${MAX_NAME_CHARS} characters.` }),
    ...(!isHttps && { url: "An https URL." }),
    ...(fids !== undefined && { allowlist: fids }),
  };
}

/** The fields as the API takes them. */
export const appFieldsOf = ({ name, url, description, allowlist }: AppDraft): AppFields => ({
  name,
  app_url: url,
  description: description === "" ? null : description,
  signer_fid_allowlist: readFidList(allowlist).fids,
});

/** The inputs for the fields of an app. */
export function AppInputs({ draft, onChange }: { draft: AppDraft; onChange: (draft: AppDraft) => void }) {
  const problems = appProblems(draft);
  const set = (field: keyof AppDraft) => (value: string) => onChange({ ...draft, [field]: value });
  return (
    <>
      <Field
        label="Name"
        name="app-name"
        value={draft.name}
        onInput={set("name")}
        hint="People see its first letter beside your notifications here."
        problem={draft.name === "" ? undefined : problems.name}
      />
      <Field
        label="URL"
        name="app-url"
        type="url"
        value={draft.url}
        onInput={set("url")}
        placeholder="https://example.com"
        hint="Where the app lives. Notifications may open pages of this host alone."
        problem={draft.url === "" ? undefined : problems.url}
      />
      <Field
        label="Description"
        name="app-description"
        value={draft.description}
        onInput={set("description")}
      />
      <Field
        label="Accepted clients"
        name="app-allowlist"
        value={draft.allowlist}
        onInput={set("allowlist")}
        hint="Fids of the client apps whose reports count; empty for all."
        problem={problems.allowlist}
      />
    </>
  );
}
