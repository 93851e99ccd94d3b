// The search runs in a worker, and a page that is opened from the file system may start none. There, a hidden frame does as well.
if (location.protocol === 'file:') {
  window.Worker = class {
    constructor(url) {
      this.frame = Object.assign(document.createElement('iframe'), {hidden: true});
      document.body.append(this.frame);
      const inner = this.frame.contentWindow;
      inner.postMessage = data => this.onmessage && this.onmessage({data: structuredClone(data)});
      this.loaded = new Promise((resolve, reject) => {
        const script = inner.document.createElement('script');
        Object.assign(script, {src: new URL(url, location), onload: resolve, onerror: reject});
        inner.document.body.append(script);
      });
      this.loaded.catch(event => this.onerror && this.onerror(event));
    }
    postMessage(data) {
      const inner = this.frame.contentWindow;
      this.loaded.then(() => inner.onmessage({data: inner.structuredClone(data)}), () => {});
    }
    terminate() {
      this.frame.remove();
    }
  };
}
