import { useState } from "preact/hooks";
import { Face } from "../content/face.tsx";
import { type DemoPrompt, demoPrompt, signUnasked } from "../owner/wallet/demo-wallet.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Checkbox, Field, TechnicalDetails } from "../parts/form.tsx";
import { FailureBox, Skeleton } from "../parts/region.tsx";
import { Facts } from "../parts/table.tsx";
import * as msg from "../text/en/demo/demo.ts";
import { displayNameOf, handleOf } from "../text/name.ts";
import { UserName } from "../text/user-text.tsx";
import { useDemoPeople } from "./demo-feed.ts";

const SHOWN = 12;

function Pick({ prompt }: { prompt: Extract<DemoPrompt, { kind: "pick" }> }) {
  const [wanted, setWanted] = useState("");
  const { people: all, query } = useDemoPeople(true);
  const text = wanted.trim().toLowerCase().replace(/^@/, "");
  const people = all
    // The first two fids are the client apps.
    .filter(({ fid }) => text !== "" || fid > 2)
    .filter((person) =>
      [String(person.fid), person.username, person.display_name.toLowerCase()].some((part) =>
        part.includes(text),
      ),
    );
  return (
    <Dialog title={msg.chooseADemoPerson} onClose={() => prompt.settle(undefined)}>
      <p class="s">{msg.theseArePeopleOfTheDemo}</p>
      <Field
        label={msg.findAPerson}
        name="demo-person"
        value={wanted}
        onInput={setWanted}
        hint={msg.nameHandleOrFid}
      />
      {query.error && <FailureBox failure={query.error} retry={() => query.refresh()} />}
      {query.data === undefined && !query.error && <Skeleton />}
      <ul class="stack tight" aria-label={msg.people}>
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
              <span class="dim s">{msg.fid(user.fid)}</span>
            </button>
          </li>
        ))}
      </ul>
      {query.data && people.length === 0 && <p class="dim">{msg.noDemoPeopleFound}</p>}
      {people.length > SHOWN && <p class="s dim">{msg.andMore(people.length - SHOWN)}</p>}
    </Dialog>
  );
}

function Sign({ prompt }: { prompt: Extract<DemoPrompt, { kind: "sign" }> }) {
  const [isTrusted, setTrusted] = useState(true);
  const agree = () => {
    if (isTrusted) signUnasked();
    prompt.settle(true);
  };
  return (
    <Dialog title={msg.signatureRequest} onClose={() => prompt.settle(undefined)}>
      <p>{msg.signThisRequestYourOwnWallet}</p>
      <TechnicalDetails>
        <Facts
          class="pairs mono"
          facts={Object.fromEntries(
            Object.entries(prompt.message).map(([name, value]) => [
              name,
              <span class="text" key={name}>
                {String(value)}
              </span>,
            ]),
          )}
        />
      </TechnicalDetails>
      <Checkbox class="row s" checked={isTrusted} onChange={setTrusted}>
        {msg.doNotAskAgainInThis}
      </Checkbox>
      <footer>
        <button type="button" class="btn" onClick={() => prompt.settle(undefined)}>
          {msg.decline}
        </button>
        <button type="button" class="btn go" onClick={agree}>
          {msg.sign}
        </button>
      </footer>
    </Dialog>
  );
}

/** The open prompt of the demo wallet. */
export function DemoPromptSheet() {
  const prompt = demoPrompt.value;
  if (prompt === undefined) return null;
  return prompt.kind === "pick" ? <Pick prompt={prompt} /> : <Sign prompt={prompt} />;
}
