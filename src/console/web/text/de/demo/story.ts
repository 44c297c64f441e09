export const buzzThemAgain = "Noch einmal klingeln lassen";
export const CLOCK = "9:41";
export const APP = "Fresh bread";
export const TEXT = "The oven is hot. First ten loaves are half price until noon.";
export const now = "jetzt";
export const done = "fertig";
export const notified = (phones: number, isVerified: boolean) =>
  `${phones} Handys benachrichtigt. ${isVerified ? "Der Empfänger des Webhooks hat die Signatur geprüft." : "Der Webhook ist noch unterwegs."}`;
export const openThisCampaign = "Diese Kampagne öffnen";
