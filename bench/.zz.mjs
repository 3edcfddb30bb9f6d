import tool from '../src/tools/bank/iban-check.ts'
const ins=['GB82 WEST 1234 5698 7654 32','DE89370400440532013000','FR1420041010050500013M02606','NL91ABNA0417164300'].map(iban=>({iban}))
let sink=0
const scopeText=JSON.stringify(tool.scope)
function run(name,f){let best=1e9;for(let r=0;r<7;r++){const t=process.cpuUsage().user;f(20000);best=Math.min(best,(process.cpuUsage().user-t)/20000)};console.log(name.padEnd(30),best.toFixed(2),'us')}
const B=Buffer.allocUnsafe(1<<20)
const enc=new TextEncoder()
for(let k=0;k<2;k++){
run('exec only',n=>{for(let i=0;i<n;i++)sink+=tool.execute(ins[i&3]).valid?1:0})
run('exec+stringify',n=>{for(let i=0;i<n;i++)sink+=JSON.stringify(tool.execute(ins[i&3])).length})
run('concat block+Buffer.from',n=>{let acc='';for(let i=0;i<n;i++){acc+='{"result":'+JSON.stringify(tool.execute(ins[i&3]))+'}\n';if(acc.length>262144){sink+=Buffer.from(acc).length;acc=''}}})
run('array join+Buffer.from',n=>{let acc=[],l=0;for(let i=0;i<n;i++){const t=JSON.stringify(tool.execute(ins[i&3]));acc.push(t);l+=t.length;if(l>262144){sink+=Buffer.from('{"result":'+acc.join('}\n{"result":')+'}\n').length;acc=[];l=0}}})
run('buf.write per line',n=>{let o=0;for(let i=0;i<n;i++){const t=JSON.stringify(tool.execute(ins[i&3]));if(o+t.length*3+20>B.length){sink+=o;o=0}o+=B.write('{"result":',o,'latin1');o+=B.utf8Write(t,o);o+=B.write('}\n',o,'latin1')}})
run('buf.write per line 2',n=>{let o=0;for(let i=0;i<n;i++){const t=JSON.stringify({result:tool.execute(ins[i&3])});if(o+t.length*3+20>B.length){sink+=o;o=0}o+=B.utf8Write(t,o);B[o++]=10}})
run('encodeInto per line',n=>{let o=0;for(let i=0;i<n;i++){const t=JSON.stringify({result:tool.execute(ins[i&3])});if(o+t.length*3+20>B.length){sink+=o;o=0}o+=enc.encodeInto(t,B.subarray(o)).written;B[o++]=10}})
run('scope spliced',n=>{let o=0;for(let i=0;i<n;i++){const r=tool.execute(ins[i&3]);r.scope=undefined;const t=JSON.stringify(r);if(o+t.length*3+20>B.length){sink+=o;o=0}o+=B.utf8Write(t,o);B[o++]=10}})
run('array of 200 results one stringify',n=>{let o=0;for(let i=0;i<n;i+=200){const a=[];for(let j=0;j<200;j++)a.push({result:tool.execute(ins[j&3])});const t=JSON.stringify(a);if(o+t.length*3+20>B.length){sink+=o;o=0}o+=B.utf8Write(t,o)}})
}
