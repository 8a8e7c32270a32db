declare module '*?sprite' {
  const address: string;
  export default address;
}
