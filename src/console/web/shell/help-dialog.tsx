import { Dialog } from "../parts/dialog.tsx";
import { shortcutsOn } from "./preferences.ts";
import { isHelpOpen, shortcutHelp } from "./shortcuts.ts";

/** What the keys do, and the switch that turns single keys off. */
export function HelpDialog() {
  if (!isHelpOpen.value) return null;
  const close = () => {
    isHelpOpen.value = false;
  };
  return (
    <Dialog title="Keyboard" onClose={close}>
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
        Single keys are shortcuts
      </label>
    </Dialog>
  );
}
