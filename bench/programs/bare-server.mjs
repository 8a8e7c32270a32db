// The minimal server: reads a JSON body, answers with JSON. The unit of other figures.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (data) => chunks.push(data));
  request.on('end', () => {
    const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString('utf8')) : {};
    const text = JSON.stringify({ code: 0, msg: 'success', data: body });
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    response.end(text);
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
