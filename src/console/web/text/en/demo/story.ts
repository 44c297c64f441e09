export const buzzThemAgain = "Buzz them again";
export const CLOCK = "9:41";
export const APP = "Fresh bread";
export const TEXT = "The oven is hot. First ten loaves are half price until noon.";
export const now = "now";
export const done = "done";
export const notified = (phones: number, isVerified: boolean) =>
  `${phones} phones notified. ${isVerified ? "The webhook's receiver verified its signature." : "The webhook is still on its way."}`;
export const openThisCampaign = "Open this campaign";
