export { version as SERVER_VERSION } from '../package.json';
