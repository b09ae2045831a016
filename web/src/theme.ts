// Light or dark: as the system has it, until somebody presses the switch.

export function setUpTheme(button: HTMLButtonElement, changed: () => void): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = (): boolean => (root.dataset["theme"] ? root.dataset["theme"] === "dark" : system.matches);
  const update = (): void => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
    changed();
  };
  button.addEventListener("click", () => {
    root.dataset["theme"] = isDark() ? "light" : "dark";
    update();
  });
  system.addEventListener("change", update);
  button.hidden = false;
  update();
}
