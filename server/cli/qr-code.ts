/** Text of a QR code for a terminal. */
export async function qrCode(text: string): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr');
  return renderUnicodeCompact(text, { border: 2 });
}
