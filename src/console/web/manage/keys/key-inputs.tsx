import { nowMs } from "../../data/now.ts";
import { useOwnerQuery } from "../../owner/use-owner-query.ts";
import { pageConfig } from "../../page-config.ts";
import { Field } from "../../parts/field.tsx";
import { plainName } from "../../text/name.ts";
import { type App, listCall as appsCall } from "../apps/app.ts";
import { SCOPES, type Scope } from "./api-key.ts";
import { type KeyDraft, keyProblems } from "./key-draft.ts";

/** The app that a key pushes for: one of the owner's, or an id where this page has no list of them. */
function AppChoice({ value, onInput }: { value: string; onInput: (value: string) => void }) {
  const apps = useOwnerQuery<{ apps: readonly App[] }>(appsCall).data?.apps;
  const label = "Pushes for";
  if (apps === undefined)
    return (
      <Field
        label={label}
        name="key-app"
        value={value}
        onInput={onInput}
        hint="The id of a mini app; empty for your only one."
      />
    );
  return (
    <div class="field">
      <label for="key-app">{label}</label>
      <select
        id="key-app"
        value={value}
        onChange={({ currentTarget }) => onInput(currentTarget.value)}
        aria-describedby="key-app-hint"
      >
        <option value="">your only app</option>
        {apps.map(({ app_id, name }) => (
          <option value={app_id} key={app_id}>
            {plainName(name)}
          </option>
        ))}
        {value !== "" && !apps.some(({ app_id }) => app_id === value) && (
          <option value={value}>{value}</option>
        )}
      </select>
      <div class="hint" id="key-app-hint">
        {apps.length > 1 ? "You have several: choose one, or the key cannot send." : ""}
      </div>
    </div>
  );
}

/** The inputs for the fields of a key. */
export function KeyInputs({ draft, onChange }: { draft: KeyDraft; onChange: (draft: KeyDraft) => void }) {
  const { scopes } = draft;
  const problems = keyProblems(draft, nowMs.value);
  const set = (field: keyof KeyDraft) => (value: string) => onChange({ ...draft, [field]: value });
  const toggle = (scope: Scope, isOn: boolean) => {
    const chosen = isOn ? [...scopes, scope] : scopes.filter((other) => other !== scope);
    onChange({ ...draft, scopes: SCOPES.map(([name]) => name).filter((name) => chosen.includes(name)) });
  };
  return (
    <>
      <Field
        label="Name"
        name="key-name"
        value={draft.name}
        onInput={set("name")}
        required
        hint="For you: where it is used."
        problem={draft.name === "" ? undefined : problems.name}
      />
      <fieldset>
        <legend class="s">It may</legend>
        <div class="checks column">
          {SCOPES.map(([scope, words]) => (
            <label class="s" key={scope}>
              <input
                type="checkbox"
                checked={scopes.includes(scope)}
                onChange={({ currentTarget }) => toggle(scope, currentTarget.checked)}
              />
              <span>
                <b>{scope}</b>{" "}
                <span class="dim">
                  {words}
                  {scope === "signers" && pageConfig.signers !== "on" && ". This node has none"}
                </span>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      {scopes.includes("push") && <AppChoice value={draft.appId} onInput={set("appId")} />}
      <div class="three">
        <Field
          label="Last day"
          name="key-last-day"
          type="date"
          value={draft.lastDay}
          onInput={set("lastDay")}
          hint="Empty: until you delete it."
          problem={problems.lastDay}
        />
        <Field
          label="Units a minute"
          name="key-units"
          type="number"
          value={draft.units}
          onInput={set("units")}
          hint="Of reads. Empty: the node’s limit."
          problem={problems.units}
        />
        <Field
          label="Writes a minute"
          name="key-writes"
          type="number"
          value={draft.writes}
          onInput={set("writes")}
          hint="Of messages. Empty: the node’s limit."
          problem={problems.writes}
        />
      </div>
    </>
  );
}
