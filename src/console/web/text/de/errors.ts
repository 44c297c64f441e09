export const ERRORS: Readonly<Record<string, string>> = {
  rate_limited: "zu viele Anfragen; versuche es gleich noch einmal",
  client_share: "deine Adresse nutzt gerade ihren ganzen Anteil; versuche es gleich noch einmal",
  invalid_key: "das braucht einen gültigen API-Schlüssel",
  session_ended: "die Sitzung ist beendet",
  needs_custody: "das muss die Custody-Wallet signieren",
  cursor_too_old:
    "die Ereignisse ab dieser Stelle gibt es nicht mehr, oder sie gehört zu einem anderen Index",
  gone: "dieser Link gilt nicht mehr; lass dir von der App einen neuen geben",
  unknown_signer: "diesen Signierer gibt es nicht",
  signer_not_approved: "der Signierer ist nicht bestätigt",
  signer_locked: "dieser Knoten kann den Schlüssel des Signierers nicht öffnen",
  signer_not_on_chain:
    "das nimmt das Netz nur von Schlüsseln, die on-chain hinzugefügt wurden; der dieses Signierers wurde es nicht",
  out_of_scope: "der Signierer darf das nicht schreiben",
  needs_pro: "das Titelbild braucht ein Pro-Abo",
};
