import { Dialog } from "../parts/dialog.tsx";
import * as msg from "../text/en/tools/help.ts";
import { isHelpOpen, sections, shortcutsOn } from "./shortcuts.ts";

const listed = (words: readonly string[]) => words.join(", ");

/** The shortcuts, as shown in the help. */
const shortcutHelp: readonly (readonly [keys: string, what: string])[] = [
  [msg.orCtrlK, msg.toSearch],
  [msg.jAndK, msg.nextAndPreviousRow],
  ["Enter", msg.openTheRow],
  ["u", msg.up],
  ["c", msg.copyTheCallAsCurl],
  [".", msg.showTheCall],
  [msg.gThen(listed(sections.map(({ key }) => key))), listed(sections.map(({ key }) => msg.SECTIONS[key]))],
  ["r", msg.refresh],
  ["?", msg.thisHelp],
];

/** The shortcuts, and the switch that disables single keys. */
export function HelpDialog() {
  if (!isHelpOpen.value) return null;
  const close = () => {
    isHelpOpen.value = false;
  };
  return (
    <Dialog title={msg.keyboard} onClose={close}>
      <dl class="pairs">
        {shortcutHelp.map(([keys, what]) => (
          <>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
      <label class="row">
        <input
          type="checkbox"
          checked={shortcutsOn.value}
          onChange={(event) => {
            shortcutsOn.value = event.currentTarget.checked;
          }}
        />
        {msg.singleKeysAreShortcuts}
      </label>
    </Dialog>
  );
}
