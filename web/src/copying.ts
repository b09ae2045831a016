// Commands can be copied.

export function setUpCopying(): void {
  // A page from a file or over plain HTTP may not have a clipboard.
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll<HTMLButtonElement>("button.copy")) {
    const label = button.firstChild!;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const command = button.parentElement?.querySelector("code")?.textContent ?? "";
      try {
        await navigator.clipboard.writeText(command);
        label.textContent = "Copied";
      } catch {
        label.textContent = "Not allowed";
      }
      setTimeout(() => (label.textContent = "Copy"), 1500);
    });
  }
}
