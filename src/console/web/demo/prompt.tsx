import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";
import { Face } from "../parts/face.tsx";
import { FailureBox } from "../parts/failure-box.tsx";
import { Field } from "../parts/field.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { displayNameOf, handleOf } from "../text/name.ts";
import { UserName } from "../text/user-name.tsx";
import { useDemoPeople } from "./people.ts";
import { type DemoPrompt, demoPrompt, signUnasked } from "./wallet.ts";

const SHOWN = 12;

function Pick({ prompt }: { prompt: Extract<DemoPrompt, { kind: "pick" }> }) {
  const [wanted, setWanted] = useState("");
  const { people: all, query } = useDemoPeople(true);
  const text = wanted.trim().toLowerCase().replace(/^@/, "");
  const people = all
    // The first two are the client apps.
    .filter(({ fid }) => text !== "" || fid > 2)
    .filter((person) =>
      [String(person.fid), person.username, person.display_name.toLowerCase()].some((part) =>
        part.includes(text),
      ),
    );
  return (
    <Dialog title="Whose wallet do you borrow?" onClose={() => prompt.settle(undefined)}>
      <p class="s">
        These are people of the demo network. Their keys are public, so anybody can act as any of them, and
        nothing that you do here matters outside of this node.
      </p>
      <Field
        label="Find a person"
        name="demo-person"
        value={wanted}
        onInput={setWanted}
        hint="Name, handle or fid"
      />
      {query.error && <FailureBox failure={query.error} retry={() => query.refresh()} />}
      {query.data === undefined && !query.error && <Skeleton />}
      <ul class="stack tight" aria-label="People">
        {people.slice(0, SHOWN).map((user) => (
          <li key={user.fid}>
            <button type="button" class="btn quiet wallet" onClick={() => prompt.settle(user.fid)}>
              <Face user={user} size={2} />
              <span class="grow">
                <UserName name={displayNameOf(user)} />{" "}
                <span class="dim s handle">
                  <UserName name={handleOf(user)} />
                </span>
              </span>
              <span class="dim s">fid {user.fid}</span>
            </button>
          </li>
        ))}
      </ul>
      {query.data && people.length === 0 && <p class="dim">Nobody of the demo has this name.</p>}
      {people.length > SHOWN && <p class="s dim">and {people.length - SHOWN} more</p>}
    </Dialog>
  );
}

function Sign({ prompt }: { prompt: Extract<DemoPrompt, { kind: "sign" }> }) {
  const [isTrusted, setTrusted] = useState(false);
  const agree = () => {
    if (isTrusted) signUnasked();
    prompt.settle(true);
  };
  return (
    <Dialog title={`The wallet of fid ${prompt.fid} asks`} onClose={() => prompt.settle(undefined)}>
      <p>Do you sign this? A wallet of your own would show the same.</p>
      <dl class="pairs">
        {Object.entries(prompt.message).map(([name, value]) => [
          <dt key={`${name} name`}>{name}</dt>,
          <dd class="mono" key={name}>
            {String(value)}
          </dd>,
        ])}
      </dl>
      <label class="row s">
        <input
          type="checkbox"
          checked={isTrusted}
          onChange={(event) => setTrusted(event.currentTarget.checked)}
        />
        Do not ask again in this visit
      </label>
      <footer>
        <button type="button" class="btn" onClick={() => prompt.settle(undefined)}>
          Decline
        </button>
        <button type="button" class="btn go" onClick={agree}>
          Sign
        </button>
      </footer>
    </Dialog>
  );
}

/** The question of the demo wallet that is open. */
export function DemoPromptSheet() {
  const prompt = demoPrompt.value;
  if (prompt === undefined) return null;
  return prompt.kind === "pick" ? <Pick prompt={prompt} /> : <Sign prompt={prompt} />;
}
