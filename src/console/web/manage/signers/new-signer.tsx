import { useState } from "preact/hooks";
import { usePeople } from "../../data/query.ts";
import { nowMs } from "../../data/visibility.ts";
import { useAction } from "../../owner/action.tsx";
import { signed } from "../../owner/signed-call.ts";
import { Checkbox, Labelled } from "../../parts/form.tsx";
import * as msg from "../../text/en/manage/signers.ts";
import { displayNameOf, plainName } from "../../text/name.ts";
import { SignedForm } from "../action.tsx";
import { PeopleField } from "../webhooks/chips.tsx";

type Permission = keyof typeof msg.PERMISSION_NAMES;
const ALL = Object.keys(msg.PERMISSION_NAMES) as readonly Permission[];

/** The form of a signer that a user approves by a link. */
export function NewSigner({ onCreated }: { onCreated: () => void }) {
  const action = useAction();
  const [user, setUser] = useState<{ readonly values: readonly string[]; readonly typed: string }>({
    values: [],
    typed: "",
  });
  const [chosen, setChosen] = useState<readonly Permission[]>(ALL);
  const [spanSecs, setSpan] = useState<number>(msg.LINK_SPANS[1][0]);
  const isAll = chosen.length === ALL.length;
  const people = usePeople(user.values.map(Number));
  function nameOf(fid: string | undefined) {
    if (fid === undefined) return msg.whoeverHasTheLink;
    const person = people.get(Number(fid));
    return person ? msg.nameAndFid(plainName(displayNameOf(person)), fid) : msg.onlyFid(fid);
  }
  async function create() {
    const [fid] = user.values;
    const made = await action.operate({
      ...signed("POST /managed_signer", {
        body: {
          ...(isAll ? {} : { permissions: [...chosen] }),
          ...(fid === undefined ? {} : { fid: Number(fid) }),
          deadline: Math.floor(nowMs.peek() / 1000) + spanSecs,
        },
      }),
      title: msg.createASigner,
      words: msg.theNodeMakesAKey(
        nameOf(fid),
        isAll ? msg.everything : chosen.map((name) => msg.PERMISSION_NAMES[name]).join(", "),
      ),
    });
    if (!made) return;
    setUser({ values: [], typed: "" });
    onCreated();
  }
  return (
    <SignedForm
      title={msg.newSigner}
      label={msg.signAndCreate}
      action={action}
      obstacle={
        user.typed.trim() !== ""
          ? msg.theFirstPersonCounts
          : chosen.length === 0
            ? msg.chooseAPermission
            : undefined
      }
      onSign={create}
    >
      <PeopleField
        label={msg.forWhom}
        name="signer-user"
        values={user.values}
        typed={user.typed}
        onChange={(values, typed) => setUser({ values: values.slice(-1), typed })}
        problem={user.typed.trim() === "" ? undefined : msg.theFirstPersonCounts}
      />
      <p class="s dim">{user.values.length === 0 ? msg.anyone : msg.onePerson}</p>
      <fieldset>
        <legend class="s">{msg.permissions}</legend>
        <div class="checks even">
          <Checkbox checked={isAll} onChange={(isOn) => setChosen(isOn ? ALL : [])}>
            {msg.everything}
          </Checkbox>
          {ALL.map((name) => (
            <Checkbox
              key={name}
              checked={chosen.includes(name)}
              onChange={(isOn) =>
                setChosen(ALL.filter((one) => (one === name ? isOn : chosen.includes(one))))
              }
            >
              {msg.PERMISSION_NAMES[name]}
            </Checkbox>
          ))}
        </div>
      </fieldset>
      <Labelled id="signer-link" label={msg.linkEnds}>
        <select
          id="signer-link"
          value={spanSecs}
          onChange={({ currentTarget }) => setSpan(Number(currentTarget.value))}
        >
          {msg.LINK_SPANS.map(([secs, words]) => (
            <option value={secs} key={secs}>
              {words}
            </option>
          ))}
        </select>
      </Labelled>
    </SignedForm>
  );
}
